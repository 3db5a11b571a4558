"""Find calls that should raise an error and do not."""

from __future__ import annotations

import re
from collections.abc import Callable


def find_wrong_outcome(call: Callable[[], object], error: type[Exception], pattern: str = "") -> str | None:
    """Say what a call does instead of raising an error with a message that matches; None if it does raise it."""
    try:
        result = call()
    except error as caught:
        return None if re.search(pattern, str(caught)) else f"raised {type(caught).__name__}: {caught}"
    except Exception as caught:
        return f"raised {caught!r}"
    return f"returned {result!r}"
