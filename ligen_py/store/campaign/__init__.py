"""The campaign file, its manifest and its parts."""
