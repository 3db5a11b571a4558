"""The smallest budget under a utility constraint (Optimus), for any mechanism, population and loss.

Chapters 3 to 5 of "Optimized budget selection for local differential privacy" (Seyedkazemi, 2025): its five methods,
corrected, and a sixth that proves its answer.
"""

from hush.planning.budget.answer import Answer
from hush.planning.budget.ask import METHODS, budget
from hush.planning.budget.bayes import Bayes
from hush.planning.budget.binary import BS, DBS, RBS
from hush.planning.budget.direct import Direct
from hush.planning.budget.losses import LOSSES
from hush.planning.budget.multipass import MPass
from hush.planning.budget.trials import Tried

__all__ = ["BS", "DBS", "LOSSES", "METHODS", "RBS", "Answer", "Bayes", "Direct", "MPass", "Tried", "budget"]
