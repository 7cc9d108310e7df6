"""What `ligen verify` compares: files, config, results made again from what stands before them."""
