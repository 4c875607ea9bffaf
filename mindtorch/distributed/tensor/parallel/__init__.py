"""`torch.distributed.tensor.parallel`: layers whose matrices are spread over processes."""

from mindtorch.distributed.tensor.parallel.loss import loss_parallel as loss_parallel
from mindtorch.distributed.tensor.parallel.preparing import PrepareModuleInput as PrepareModuleInput
from mindtorch.distributed.tensor.parallel.preparing import PrepareModuleInputOutput as PrepareModuleInputOutput
from mindtorch.distributed.tensor.parallel.preparing import PrepareModuleOutput as PrepareModuleOutput
from mindtorch.distributed.tensor.parallel.styles import ColwiseParallel as ColwiseParallel
from mindtorch.distributed.tensor.parallel.styles import ParallelStyle as ParallelStyle
from mindtorch.distributed.tensor.parallel.styles import RowwiseParallel as RowwiseParallel
from mindtorch.distributed.tensor.parallel.styles import SequenceParallel as SequenceParallel
from mindtorch.distributed.tensor.parallel.styles import parallelize_module as parallelize_module
