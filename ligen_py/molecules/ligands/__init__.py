"""From a record of a library to the states and conformers that are docked."""
