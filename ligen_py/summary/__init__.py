"""What a campaign says, for people: facts taken from it, as text and as one HTML page."""
