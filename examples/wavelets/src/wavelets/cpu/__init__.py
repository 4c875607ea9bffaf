"""The kernels for the CPU: functions of NumPy arrays."""
