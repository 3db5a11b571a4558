"""A notebook that rehearses the planned collection and draws what came out: Jupyter's format, version 4.5."""

from __future__ import annotations

import json
from typing import Any

import hush
from hush.workbench.plan.answer import Answer
from hush.workbench.plan.rehearsal import steps

_DRAWN = """import matplotlib.pyplot as plt

few = min(len(labels), 30)
points = np.arange(few)
fig, axes = plt.subplots(figsize=(8, 1.2 + 0.32 * few))
axes.barh(points, truth[:few] / len(values), color="#d3d8e2", label="truth")
reach = [estimate.frequencies[:few] - low[:few], high[:few] - estimate.frequencies[:few]]
axes.errorbar(estimate.frequencies[:few], points, xerr=np.maximum(reach, 0), fmt="o", color="#0a66b0", label="estimate")
axes.set_yticks(points, [str(label)[:30] for label in labels[:few]])
axes.invert_yaxis()
axes.set_xlabel("share of people, with 95 % intervals")
axes.legend(frameon=False)
plt.show()"""


def notebook(answer: Answer) -> str:
    """The text of the file."""
    cells = [_words("# A private collection, rehearsed\n\n" + "\n\n".join(_told(answer)))]
    for step in steps(answer):
        cells += [_words(f"## {step.title}\n\n{step.words}"), _code(step.code)]
    cells += [
        _words("## The picture\n\nEstimates beside the truth, which a real collection never knows."),
        _code(_DRAWN),
    ]
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}, "hush": {"version": hush.__version__}}
    made = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _told(answer: Answer) -> list[str]:
    said = [answer.question.words, " ".join(answer.headline), answer.why, answer.caution]
    same = f"The same plan in Python:\n\n```python\n{answer.call}\n```"
    return [_plain(each) for each in said if each] + [f"{same}\n\nand in a shell:\n\n```sh\n{answer.command}\n```"]


def _plain(text: str) -> str:
    """Text that Markdown and its formulas leave as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|~$" else sign for sign in text)


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "id": "", "metadata": {}, "outputs": [], "source": text}
