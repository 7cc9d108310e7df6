"""Library files: records of every format, and their parts."""
