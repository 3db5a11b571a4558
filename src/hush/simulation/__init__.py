"""Exact fast samplers of tallies: a million clients in the time of k draws.

Each draws the tally of a whole population from the law that its reports would follow, from the support
probabilities and the counts alone.
"""
