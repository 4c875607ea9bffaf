"""`torch.distributed.elastic`: what programs use that are restarted when one of their processes fails."""
