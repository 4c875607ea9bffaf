"""Importing this has the names of CUDA mean the NPU: `torch.cuda`, `"cuda:0"`, `x.cuda()`."""

import sys

from mindtorch import npu
from mindtorch._core.device import renamed

renamed["cuda"] = "npu"
sys.modules["mindtorch"].cuda = npu  # type: ignore[attr-defined]
