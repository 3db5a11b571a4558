"""What the page Learn says and computes: coins, odds, a crowd, what epsilon buys, what it does not, and a quiz."""
