"""Exact numbers: thresholds that never lose more than epsilon, and losses of channels that integers describe."""

from hush.exact.thresholds import (
    SCALE,
    clamp,
    exp_below,
    exponential,
    keep,
    log_ratio,
    other_bit,
    shared_bit,
    symmetric_bit,
)

__all__ = [
    "SCALE",
    "clamp",
    "exp_below",
    "exponential",
    "keep",
    "log_ratio",
    "other_bit",
    "shared_bit",
    "symmetric_bit",
]
