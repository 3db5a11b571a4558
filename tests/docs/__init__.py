"""Tests of the README, the contributors' page and the pages below docs."""
