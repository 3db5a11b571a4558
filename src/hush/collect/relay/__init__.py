"""A relay between devices and a collector, run by somebody else: what it passes on tells neither who nor when."""
