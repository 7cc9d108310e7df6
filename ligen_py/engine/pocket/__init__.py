"""A pocket's geometric field, its anchors, and the search for cavities."""
