"""An older place of `torch.distributed.tensor`."""

from mindtorch.distributed.device_mesh import DeviceMesh as DeviceMesh
from mindtorch.distributed.device_mesh import init_device_mesh as init_device_mesh
from mindtorch.distributed.tensor import DTensor as DTensor
from mindtorch.distributed.tensor import Partial as Partial
from mindtorch.distributed.tensor import Placement as Placement
from mindtorch.distributed.tensor import Replicate as Replicate
from mindtorch.distributed.tensor import Shard as Shard
from mindtorch.distributed.tensor import distribute_module as distribute_module
from mindtorch.distributed.tensor import distribute_tensor as distribute_tensor
from mindtorch.distributed.tensor import empty as empty
from mindtorch.distributed.tensor import full as full
from mindtorch.distributed.tensor import ones as ones
from mindtorch.distributed.tensor import rand as rand
from mindtorch.distributed.tensor import randn as randn
from mindtorch.distributed.tensor import zeros as zeros
