"""Settings of a campaign, one module a section."""
