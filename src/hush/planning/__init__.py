"""The planner: which protocol, with which parameters and budget."""
