"""X-Score 1.3: HPScore and HMScore."""
