"""`torch.distributed.nn`: collectives that gradients go through."""

from mindtorch.distributed.nn.functional import _all_gather_base as _all_gather_base
from mindtorch.distributed.nn.functional import all_gather as all_gather
from mindtorch.distributed.nn.functional import all_reduce as all_reduce
from mindtorch.distributed.nn.functional import all_to_all as all_to_all
from mindtorch.distributed.nn.functional import all_to_all_single as all_to_all_single
from mindtorch.distributed.nn.functional import broadcast as broadcast
from mindtorch.distributed.nn.functional import gather as gather
from mindtorch.distributed.nn.functional import reduce as reduce
from mindtorch.distributed.nn.functional import reduce_scatter as reduce_scatter
from mindtorch.distributed.nn.functional import scatter as scatter
