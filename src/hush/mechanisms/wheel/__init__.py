"""Arcs on a ring, and a point on it."""

from hush.mechanisms.wheel.mechanism import Wheel

__all__ = ["Wheel"]
