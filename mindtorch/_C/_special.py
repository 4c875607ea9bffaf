"""The names of `torch._C._special`: the functions of ops by which traced programs call them."""

from mindtorch._C._of_ops import functions_of_ops

__getattr__ = functions_of_ops(__name__)
