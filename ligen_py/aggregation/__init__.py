"""What `aggregate` makes a campaign file of: chunks read, records in order, the best poses."""
