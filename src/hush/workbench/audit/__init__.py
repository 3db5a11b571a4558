"""What the page Audit asks, runs and says: no part of it draws on a screen."""
