"""`python -m hush.workbench.explore`: compute anew what is kept of slow mechanisms; it takes minutes."""

from __future__ import annotations

import sys
from pathlib import Path

from hush.workbench.explore import kept

if __name__ == "__main__":
    sys.stdout.write(f"wrote {kept.write(Path(__file__).parent)}\n")
