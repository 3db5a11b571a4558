"""A statement about a collection, one page for whoever has to answer for it; a file for each kind of mechanism."""
