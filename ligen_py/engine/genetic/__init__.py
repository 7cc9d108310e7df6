"""The Lamarckian genetic algorithm of AutoDock."""
