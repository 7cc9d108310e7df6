"""AutoDock 4.2's free-energy function."""
