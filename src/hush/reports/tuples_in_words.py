"""What a report about several attributes shows and costs, in sentences."""

from __future__ import annotations

from hush.mechanisms.spec import Spec


def of_tuples(spec: Spec) -> list[str]:
    """What people should know of a collection of tuples; nothing of other collections.

    >>> from hush.multidim import SMP
    >>> of_tuples(Spec(SMP(sizes=(2, 3), epsilon=1.0)))[0]
    'A report is about one of the 2 attributes, drawn at random, and says which: who reads the file sees that.'
    """
    m = spec.mechanism
    if not hasattr(m, "sizes"):
        return []
    if m.kind == "longitudinal":
        if m.samples:
            return [f"A person reports one of the {m.d} attributes, drawn once and for good; every report says which."]
        return [f"A report has a part for each of the {m.d} attributes, each with 1/{m.d} of the budgets."]
    whole = f"The guarantee, {m.guarantee}, is that of a person's whole report, all {m.d} attributes together."
    if not m.samples:
        share = f"each with {m.epsilon / m.d:.4g} of the budget"
        return [f"A report has a part for each of the {m.d} attributes, {share}.", whole]
    if not m.hides:
        drawn = f"A report is about one of the {m.d} attributes, drawn at random, and says which"
        return [f"{drawn}: who reads the file sees that.", whole]
    return [
        f"A report has a part for each of the {m.d} attributes: one, drawn at random, is real, the others are fakes, "
        "and it does not say which.",
        f"ε = {m.epsilon:g} is what the papers claim. The true loss of a report is ε′ = {m.guarantee.epsilon:g}, "
        "between people who differ in every attribute.",
        whole,
    ]
