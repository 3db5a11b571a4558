"""The client on a device."""
