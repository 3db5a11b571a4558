"""Only some answers are sensitive: what it gains to protect those alone, and what it reveals of the others."""

from hush.workbench.sensitive.answers import MarkedAnswers, answers_in
from hush.workbench.sensitive.gains import Distinction, SensitiveOption, distinguished
from hush.workbench.sensitive.words import protected, revealed

__all__ = ["Distinction", "MarkedAnswers", "SensitiveOption", "answers_in", "distinguished", "protected", "revealed"]
