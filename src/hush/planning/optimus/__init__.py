"""The smallest budget under a utility constraint (Optimus), for any mechanism, population and loss.

Chapters 3 to 5 of "Optimized budget selection for local differential privacy" (Seyedkazemi, 2025): its five methods,
corrected, and a sixth that proves its answer.
"""

from hush.mechanisms.renamed import moved
from hush.planning.optimus.answer import BudgetAnswer
from hush.planning.optimus.ask import METHODS, budget
from hush.planning.optimus.bayes import Bayes
from hush.planning.optimus.binary import BS, DBS, RBS
from hush.planning.optimus.costs import Complexity, complexity
from hush.planning.optimus.direct import Direct
from hush.planning.optimus.losses import LOSSES
from hush.planning.optimus.multipass import MPass
from hush.planning.optimus.trials import Tried

__all__ = [
    "BS",
    "DBS",
    "LOSSES",
    "METHODS",
    "RBS",
    "Bayes",
    "BudgetAnswer",
    "Complexity",
    "Direct",
    "MPass",
    "Tried",
    "budget",
    "complexity",
]

__getattr__ = moved(__name__, {"Answer": ("BudgetAnswer", lambda: BudgetAnswer)})
