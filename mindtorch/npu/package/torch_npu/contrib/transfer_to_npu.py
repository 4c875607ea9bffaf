"""Importing this has the names of CUDA mean the NPU: `torch.cuda`, `"cuda:0"`, `x.cuda()`."""

import mindtorch
from mindtorch import npu
from mindtorch.device import renamed

renamed["cuda"] = "npu"
mindtorch.cuda = npu
