"""An older place of `fully_shard`."""

from mindtorch.distributed.fsdp import fully_shard as fully_shard
