"""Unit tests of `hush.collect`."""
