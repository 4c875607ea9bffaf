"""Which version this is, and which of the things that torch can be built with are missing: all."""

__version__ = "0.1.0"
cuda = None
hip = None
xpu = None
debug = False
