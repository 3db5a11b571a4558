"""Files that people share: what their rows may say, and where rows wait until they are written."""
