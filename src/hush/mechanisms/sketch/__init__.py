"""Sketches: values hashed by one of some public functions, and noisy bits about their buckets."""

from hush.mechanisms.sketch.bloom import RAPPOR
from hush.mechanisms.sketch.hadamard import HCMS
from hush.mechanisms.sketch.mechanism import CMS

__all__ = ["CMS", "HCMS", "RAPPOR"]
