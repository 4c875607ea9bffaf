"""Wavelet transforms as operators of mindtorch."""

from wavelets._generated import registry as registry  # makes the ops known to mindtorch
from wavelets._generated.functions import *  # noqa: F403
