"""Files of the searches of sequences."""
