"""For `ligen plan`: what a campaign would cost, and what its next run would do."""
