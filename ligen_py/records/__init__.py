"""Arrays that pass between packages and, unchanged, into files."""
