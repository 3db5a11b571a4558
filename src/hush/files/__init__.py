"""Files that people share: whole or not at all, what their rows may say, and where rows wait until they are written."""
