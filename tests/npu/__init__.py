"""Tests of the NPU backend, on a simulated device."""
