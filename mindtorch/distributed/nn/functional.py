"""The collectives, which there is no group of processes for."""

from mindtorch.distributed import refuse_without_group

broadcast = gather = reduce = scatter = all_reduce = all_gather = all_to_all = refuse_without_group
