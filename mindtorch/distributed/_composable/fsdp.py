"""An older place of `fully_shard`."""

from mindtorch.distributed.fsdp import CPUOffloadPolicy as CPUOffloadPolicy
from mindtorch.distributed.fsdp import FSDPModule as FSDPModule
from mindtorch.distributed.fsdp import MixedPrecisionPolicy as MixedPrecisionPolicy
from mindtorch.distributed.fsdp import OffloadPolicy as OffloadPolicy
from mindtorch.distributed.fsdp import fully_shard as fully_shard
