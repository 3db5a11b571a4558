"""Pilot or public data of one's own: a column, and what each mechanism would make of it. Nothing is kept."""
