"""AutoDock Vina 1.2 and Vinardo."""
