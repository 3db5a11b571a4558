"""A cluster, on Ray: reading, writing, audits, searches and simulations, with the results of one machine.

Whatever a task draws goes by keys that are its own, so a task that is done again, since a worker or a node died, gives
the very same; and what is written becomes visible once, whole, by one rename.
"""

from hush.engine.ray.cluster import RayCluster
from hush.engine.ray.connecting import connect
from hush.engine.ray.tables import fold
from hush.engine.ray.writing import privatize

__all__ = ["RayCluster", "connect", "fold", "privatize"]
