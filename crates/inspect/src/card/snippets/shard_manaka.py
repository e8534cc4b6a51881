import manaka

loader = manaka.Loader("GLOB", features="halfkp", policy="sparse", batch_size=4096)
for batch in loader:  # numpy arrays
    batch["mover"], batch["opponent"], batch["value"], batch["weight"], batch["policy_label"]
