"""Calls that the CPU refuses because of their dtypes or numbers are refused on the NPU, which would take them."""

from mindtorch.backends.npu.sharing import shared
from mindtorch.backends.trials import Trials

check_operands = Trials(with_numbers=True, shared=shared, with_kernels=True).check
