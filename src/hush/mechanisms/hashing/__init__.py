"""Values hashed to few buckets, which are then randomized."""

from hush.mechanisms.hashing.mechanism import ABLH, AOLH, BLH, LH, LHO, OLH, most_buckets

__all__ = ["ABLH", "AOLH", "BLH", "LH", "LHO", "OLH", "most_buckets"]
