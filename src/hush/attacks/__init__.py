"""What people with bad intentions can do: attacks on collections, in closed form and simulated."""
