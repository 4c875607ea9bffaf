"""Kernels of the Haar transform. They do for this device what those for the CPU do."""

from wavelets.cpu.transform import haar as haar
from wavelets.cpu.transform import inverse_haar as inverse_haar
