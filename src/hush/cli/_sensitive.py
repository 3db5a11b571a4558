"""Which values --sensitive names."""

from __future__ import annotations

from hush.errors import ParameterError, message
from hush.people import Domain


def sensitive_in(texts: list[str], domain: Domain) -> Domain:
    """The domain with the values that --sensitive names: labels, or numbers and ranges such as 0-24."""
    if domain.sensitive is not None:
        rule = "must be left out beside a domain that names its own sensitive values"
        raise ParameterError(message("--sensitive", rule, ",".join(texts), "leave it out, or change the file"))
    found: set[int] = set()
    for text in texts:
        for each in [text] if text in map(str, domain.labels or ()) else text.split(","):
            found |= _named(each.strip(), domain)
    return Domain.from_dict({**domain.to_dict(), "sensitive": sorted(found)})


def _named(name: str, domain: Domain) -> set[int]:
    """The indices that a label, a number or a range means."""
    if domain.labels is not None:
        for index, label in enumerate(domain.labels):
            if name == str(label):
                return {index}
        rule = f"must be among the domain's {domain.size} labels"
        raise ParameterError(message("--sensitive", rule, name, "check its spelling; write commas between labels"))
    first, dash, last = name.partition("-")
    ends = [first, last] if dash else [first, first]
    if not all(end.isascii() and end.isdecimal() and len(end) < 20 for end in ends):
        rule = "must be values or ranges of values"
        raise ParameterError(message("--sensitive", rule, name, "write e.g. --sensitive 0-24,30"))
    low, high = int(ends[0]), int(ends[1])
    if not low <= high < domain.size:
        rule = f"must be values in 0..{domain.size - 1}, the lower one first in a range"
        raise ParameterError(message("--sensitive", rule, name, "check --k"))
    return set(range(low, high + 1))
