"""Ops that are made of other ops: functions of tensors, which have no kernels and need no formulas."""
