"""One file a step, the first of which begins with nothing. A step that has been released is never changed."""
