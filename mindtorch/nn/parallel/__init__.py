"""Modules on several devices. There is one, so the module does all the work."""

from mindtorch.nn.parallel.data_parallel import DataParallel
from mindtorch.nn.parallel.devices import data_parallel, gather, parallel_apply, replicate, scatter
from mindtorch.nn.parallel.distributed import DistributedDataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]
