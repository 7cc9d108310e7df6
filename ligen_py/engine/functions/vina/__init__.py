"""AutoDock Vina 1.2."""
