"""What the page of collections asks a collector, and what it says of the answers.

Nothing here draws: a page lays out what these modules compute. Everything goes over the collector's public interface,
by `hush.collect.remote.Remote` and, for what changes by itself, by its server-sent events.
"""
