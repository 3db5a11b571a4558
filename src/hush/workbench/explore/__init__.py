"""Every mechanism at one k, one epsilon and one n: its error, its attackers, its size, and a report byte by byte."""

from hush.workbench.explore.anatomy import Anatomy, dissected
from hush.workbench.explore.positions import EPSILONS, PEOPLE, SIZES
from hush.workbench.explore.table import Explored, ExploredRow, explore

__all__ = ["EPSILONS", "PEOPLE", "SIZES", "Anatomy", "Explored", "ExploredRow", "dissected", "explore"]
