"""What people with bad intentions can do: attacks on collections, in closed form and simulated."""

from hush._modules import modules_of

__getattr__ = modules_of(__name__)
