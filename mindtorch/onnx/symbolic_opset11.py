"""Where PyTorch says how its own ops are exported; nothing is exported here, so there is nothing in it."""
