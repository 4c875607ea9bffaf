"""`torch.distributed.tensor`: tensors that are spread over processes."""

from mindtorch.distributed.tensor.dtensor import DTensor as DTensor
from mindtorch.distributed.tensor.dtensor import distribute_tensor as distribute_tensor
from mindtorch.distributed.tensor.dtensor import factory
from mindtorch.distributed.tensor.modules import distribute_module as distribute_module
from mindtorch.distributed.tensor.placement_types import Partial as Partial
from mindtorch.distributed.tensor.placement_types import Placement as Placement
from mindtorch.distributed.tensor.placement_types import Replicate as Replicate
from mindtorch.distributed.tensor.placement_types import Shard as Shard

zeros, ones, empty = factory("zeros"), factory("ones"), factory("empty")
full, rand, randn = factory("full", "fill_value"), factory("rand"), factory("randn")
