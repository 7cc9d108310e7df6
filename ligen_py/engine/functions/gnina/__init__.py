"""gnina's convolutional networks, which judge a pose by the densities of its surroundings."""
