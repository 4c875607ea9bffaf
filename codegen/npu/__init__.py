"""The NPU: functions of ACLNN, calls of them, and which kernel an op gets."""
