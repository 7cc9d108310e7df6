"""Questions to a campaign: expressions, columns, and the forms of an answer."""
