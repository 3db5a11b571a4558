"""Several attributes, several rounds: which layout, which way over time, and how much of a person's budget."""

from hush.planning.surveys.plan import SurveyChoice, SurveyPlan, survey

__all__ = ["SurveyChoice", "SurveyPlan", "survey"]
