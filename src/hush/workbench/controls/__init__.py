"""What people touch: labelled fields, buttons, files in and out, progress of jobs.

Every field has a label that is seen or read aloud, help below it where that is needed, and its error in words beside
it. They are the browser's own elements, so that keyboards and screen readers know them.

    k = controls.number("How many answers are there?", 12, least=2, most=10_000, whole=True, on_change=changed)
    k.value                                    # the number, or None where what is written is no number in the range
    k.wrong("must be at least 2")              # an error in words, below the field; k.right() takes it away

    controls.slider("ε", 1.0, least=0.1, most=8, step=0.1, ends=("more private", "more accurate"), on_change=changed)
    controls.select("Mechanism", {"GRR": "GRR, direct", "OUE": "OUE, unary"}, "OUE")
    controls.choice("Show", {"a": "As a chart", "b": "As a table"}, "a")          # radio buttons
    controls.checkbox("Shuffle reports", False)
    controls.text("Name", ""), controls.textarea("Answers, one a line", "")
    controls.file("A CSV or Parquet file", accept=".csv,.parquet", on_file=took)  # took(Upload): bytes in memory
    controls.button("Plan it", plan, primary=True), controls.link("Sign in", "/sign-in")
    controls.download("Download the spec", "spec.json", lambda: data, "application/json")
    controls.copy("Copy", "text that is copied")

    panel = controls.JobPanel(visit, done=show_result)      # a bar, words, and a button to cancel
    await panel.start(work, *arguments, name="Audit of OUE")
    panel.resume()                                          # after a reload: finds the job that `?job=` names

Where fields that are used together are checked together, `controls.said(fields)` puts a `ParameterError` beside the
field of its parameter:

    with controls.said({"k": k, "epsilon": epsilon}):
        hush.GRR(k=k.value, epsilon=epsilon.value)
"""

from __future__ import annotations

from hush.workbench.controls.buttons import button, copy, download, link
from hush.workbench.controls.errors import said
from hush.workbench.controls.field import FormField as Field
from hush.workbench.controls.fields import checkbox, choice, number, select, slider, text, textarea
from hush.workbench.controls.files import Upload, file
from hush.workbench.controls.job import JobPanel

__all__ = [
    "Field",
    "JobPanel",
    "Upload",
    "button",
    "checkbox",
    "choice",
    "copy",
    "download",
    "file",
    "link",
    "number",
    "said",
    "select",
    "slider",
    "text",
    "textarea",
]
