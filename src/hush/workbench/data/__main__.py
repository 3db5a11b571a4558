"""`python -m hush.workbench.data` reads an upload from the standard input, as `hush.workbench.data.apart` asks."""

from __future__ import annotations

from hush.workbench.data.apart import answer

if __name__ == "__main__":
    answer()
