"""The collector on HTTP: routes, limits, and what they say."""
