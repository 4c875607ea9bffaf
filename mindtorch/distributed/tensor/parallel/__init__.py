"""`torch.distributed.tensor.parallel`: layers whose matrices are spread over processes."""

from mindtorch.distributed.tensor.parallel.styles import ColwiseParallel as ColwiseParallel
from mindtorch.distributed.tensor.parallel.styles import ParallelStyle as ParallelStyle
from mindtorch.distributed.tensor.parallel.styles import RowwiseParallel as RowwiseParallel
from mindtorch.distributed.tensor.parallel.styles import SequenceParallel as SequenceParallel
from mindtorch.distributed.tensor.parallel.styles import parallelize_module as parallelize_module
from mindtorch.distributed.tensor.parallel.styles import unavailable

PrepareModuleInput = unavailable("PrepareModuleInput")
PrepareModuleOutput = unavailable("PrepareModuleOutput")
PrepareModuleInputOutput = unavailable("PrepareModuleInputOutput")
loss_parallel = unavailable("loss_parallel")
