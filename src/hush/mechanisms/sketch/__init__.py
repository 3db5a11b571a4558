"""Sketches: values hashed by one of many public functions, and a bit for every bucket."""

from hush.mechanisms.sketch.mechanism import CMS

__all__ = ["CMS"]
