"""What a campaign consists of: its files, its parts and their order; the rules ask here."""
