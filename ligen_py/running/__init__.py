"""How `ligen run` runs Snakemake: its flags, its process, why it stopped."""
