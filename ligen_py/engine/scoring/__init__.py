"""Scores of poses, best poses, ranking of molecules, and checks of the scores."""
