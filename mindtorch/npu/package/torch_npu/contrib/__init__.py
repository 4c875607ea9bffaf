"""What torch_npu keeps for programs that were written for other devices."""
