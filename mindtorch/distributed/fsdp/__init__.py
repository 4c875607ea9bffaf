"""`torch.distributed.fsdp`: models whose parameters are spread over processes, and whole only where they are used."""

from mindtorch.distributed.fsdp.policies import CPUOffloadPolicy as CPUOffloadPolicy
from mindtorch.distributed.fsdp.policies import FullyShardedDataParallel as FullyShardedDataParallel
from mindtorch.distributed.fsdp.policies import MixedPrecisionPolicy as MixedPrecisionPolicy
from mindtorch.distributed.fsdp.policies import OffloadPolicy as OffloadPolicy
from mindtorch.distributed.fsdp.sharding import FSDPModule as FSDPModule
from mindtorch.distributed.fsdp.sharding import UnshardHandle as UnshardHandle
from mindtorch.distributed.fsdp.sharding import fully_shard as fully_shard
from mindtorch.distributed.fsdp.sharding import register_fsdp_forward_method as register_fsdp_forward_method
