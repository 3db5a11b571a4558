"""Collect for real: a server, its store, and the client on a device."""
