"""From a structure file to a receptor and a site."""
