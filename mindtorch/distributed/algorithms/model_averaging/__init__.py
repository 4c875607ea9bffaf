"""`torch.distributed.algorithms.model_averaging`: parameters become the means of those of all processes."""
