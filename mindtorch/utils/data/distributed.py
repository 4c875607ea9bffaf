"""`DistributedSampler`: each of several processes gets its share of the items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mindtorch import distributed
from mindtorch._core.generator import Generator
from mindtorch.dispatch import ops
from mindtorch.utils.data.sampler import Sampler


class DistributedSampler(Sampler):
    """The share of process `rank` of `num_replicas`: every so many-th number of an order that all processes know."""

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        if drop_last and count % num_replicas:
            count -= num_replicas - 1
        self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = ops.randperm(len(indices), generator=generator).tolist()
        missing = max(self.total_size - len(indices), 0)
        indices += (indices * math.ceil(missing / len(indices)))[:missing] if missing else []
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another order for each epoch."""
        self.epoch = epoch
