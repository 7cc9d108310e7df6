"""Convolutional networks that judge a pose from the densities of its atoms and the receptor's."""
