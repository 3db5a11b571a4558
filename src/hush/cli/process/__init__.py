"""What belongs to the running process: its signals, its streams, and what becomes of an error."""
