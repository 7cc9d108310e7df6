"""Makes this folder the package `tests`: a dependency installs another of that name."""
