"""Hooks that send a gradient as the product of two small matrices, and add what that leaves out to the next one.

T. Vogels, S. P. Karimireddy, M. Jaggi: PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization.
Each step is one step of a power iteration on the sum of the gradients of all processes: P = M Q, made orthogonal, and
Q = M' P; then P Q' stands for M. The collectives wait for one another, so the hooks return when all is done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from mindtorch._core.dtype import bfloat16, float16
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributed.algorithms.ddp_comm_hooks.default_hooks import mean
from mindtorch.distributed.collectives import all_reduce
from mindtorch.distributed.world import default_group, group_or_default
from mindtorch.futures import Future
from mindtorch.nn.parallel.buckets import GradBucket
from mindtorch.random import fork_rng, manual_seed

_SEEDS = 1_000_000_000


class PowerSGDState:
    """How gradients are compressed, and what is kept from one step to the next."""

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, because PowerSGD "
                "can only be applied after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)  # the same in all processes, another Q in each step
        self.error_dict: dict[int, Tensor] = {}  # by the number of the bucket, as are the next two
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the group, which can't be saved."""
        return {name: value for name, value in vars(self).items() if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = default_group()
        vars(self).update(state)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step with its last bucket."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """How many elements there were for each that was sent, how many there were, and how many were sent."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0, before, after)

    def is_worthwhile(self, rows: int, columns: int) -> bool:
        """Whether two factors are so much smaller than a matrix."""
        return self._size_of_factors(rows, columns) * self.min_compression_rate < rows * columns

    def _size_of_factors(self, rows: int, columns: int) -> int:
        return (rows + columns) * min(rows, columns, self.matrix_approximation_rank)

    def count(self, rows: int, columns: int) -> None:
        """Note that a matrix is sent as two factors."""
        self.total_numel_before_compression += rows * columns
        self.total_numel_after_compression += self._size_of_factors(rows, columns)

    def count_whole(self, elements: int) -> None:
        """Note that so many elements are sent as they are."""
        self.total_numel_before_compression += elements
        self.total_numel_after_compression += elements

    def with_error(self, index: int, buffer: Tensor) -> Tensor | None:
        """Add to the gradients of a bucket what the last step has left out; what is to be sent, to compare with."""
        if not self.use_error_feedback:
            return None
        if index in self.error_dict:
            buffer.add_(self.error_dict[index])
        return buffer.clone()

    def keep_error(self, index: int, wanted: Tensor | None, sent: Tensor) -> None:
        """Remember what this step has left out."""
        if wanted is not None:
            self.error_dict[index] = wanted - sent

    def factors(self, index: int, batches: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """P and Q of each batch of matrices, as parts of two flat tensors; Q is orthogonal."""
        ranks = [min(*each.shape[1:], self.matrix_approximation_rank) for each in batches]
        shapes = [(*each.shape, rank) for each, rank in zip(batches, ranks, strict=True)]
        p_shapes = [(count, rows, rank) for count, rows, _, rank in shapes]
        q_shapes = [(count, columns, rank) for count, _, columns, rank in shapes]
        is_new = not self.warm_start or index not in self.p_memory_dict
        if is_new:
            dtype = batches[0].dtype
            self.p_memory_dict[index] = ops.empty([sum(map(math.prod, p_shapes))], dtype=dtype)
            self.q_memory_dict[index] = self._random(q_shapes, dtype)
        ps, qs = _parts(self.p_memory_dict[index], p_shapes), _parts(self.q_memory_dict[index], q_shapes)
        for each in qs:
            _orthogonalize(each, self.orthogonalization_epsilon)
        return ps, qs

    def _random(self, shapes: Sequence[tuple[int, ...]], dtype: Dtype) -> Tensor:
        with fork_rng(devices=[]):
            manual_seed(self.rng.randint(_SEEDS))
            return ops.cat([ops.randn(shape, dtype=dtype).flatten() for shape in shapes])

    def forget_factors(self) -> None:
        """Without a warm start the next step begins with other factors."""
        if not self.warm_start:
            self.p_memory_dict.clear()
            self.q_memory_dict.clear()


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future:
    """The mean, for which matrices that are large enough are sent as factors, each parameter's for itself."""
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(state.process_group, bucket.buffer())
    with no_grad():
        wanted = state.with_error(bucket.index(), bucket.buffer())
        large, small = _sorted_out(state, bucket.gradients())
        _reduce_whole(state, small)
        if large:
            _reduce_factors(state, bucket.index(), _batches(state, large))
        state.keep_error(bucket.index(), wanted, bucket.buffer())
        state.maybe_increase_iter(bucket)
    return _done(bucket.buffer())


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future:
    """The mean, for which the gradients of a bucket, and zeros, are one square matrix that is sent as factors."""
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(state.process_group, bucket.buffer())
    with no_grad():
        buffer = bucket.buffer()
        side = math.isqrt(max(buffer.numel() - 1, 0)) + 1
        square = ops.cat([buffer, ops.zeros([side * side - buffer.numel()], dtype=buffer.dtype)])
        state.total_numel_before_compression += buffer.numel()
        state.total_numel_after_compression += 2 * side * state.matrix_approximation_rank
        wanted = state.with_error(bucket.index(), square)
        _reduce_factors(state, bucket.index(), [[square.view(side, side)]])
        state.keep_error(bucket.index(), wanted, square)
        buffer.copy_(square[: buffer.numel()])
        state.maybe_increase_iter(bucket)
    return _done(buffer)


def _done(buffer: Tensor) -> Future:
    future: Future = Future()
    future.set_result(buffer)
    return future


def _sorted_out(state: PowerSGDState, gradients: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """The gradients that are sent as factors, and the others."""
    large, small = [], []
    for each in gradients:
        rows, columns = _sides(each)
        if state.is_worthwhile(rows, columns):
            state.count(rows, columns)
            large.append(each)
        else:
            state.count_whole(each.numel())
            small.append(each)
    return large, small


def _sides(gradient: Tensor) -> tuple[int, int]:
    """The rows and columns of a gradient as a matrix, with a row for each place of its first dimension."""
    rows = gradient.shape[0] if gradient.ndim else 1
    return rows, gradient.numel() // max(rows, 1)


def _reduce_whole(state: PowerSGDState, gradients: Sequence[Tensor]) -> None:
    """Take the mean of some gradients, all by one collective."""
    if not gradients:
        return
    group = group_or_default(state.process_group)
    total = ops.cat([each.reshape(-1) for each in gradients])
    all_reduce(total, group=group)
    total.div_(group.size())
    for each, part in zip(gradients, total.split([each.numel() for each in gradients]), strict=True):
        each.copy_(part.view(each.shape))


def _batches(state: PowerSGDState, gradients: Sequence[Tensor]) -> list[list[Tensor]]:
    """What is computed at once: each gradient, or all of one shape, in the order in which shapes come first."""
    if not state.batch_tensors_with_same_shape:
        return [[each] for each in gradients]
    shapes = list(dict.fromkeys(_sides(each) for each in gradients))
    ordered = sorted(gradients, key=lambda each: shapes.index(_sides(each)))
    return [list(found) for _, found in groupby(ordered, _sides)]


def _reduce_factors(state: PowerSGDState, index: int, batches: Sequence[Sequence[Tensor]]) -> None:
    """Put what the factors give in the place of gradients; those of a batch have the same sides."""
    group = group_or_default(state.process_group)
    matrices = [ops.stack([each.reshape(_sides(each)) for each in batch]) for batch in batches]
    ps, qs = state.factors(index, matrices)
    for matrix, p, q in zip(matrices, ps, qs, strict=True):
        p.copy_(matrix @ q)
    all_reduce(state.p_memory_dict[index], group=group)
    for matrix, p, q in zip(matrices, ps, qs, strict=True):
        _orthogonalize(p, state.orthogonalization_epsilon)
        q.copy_(matrix.mT @ p)
    all_reduce(state.q_memory_dict[index], group=group)
    state.q_memory_dict[index].div_(group.size())
    for batch, p, q in zip(batches, ps, qs, strict=True):
        for each, product in zip(batch, p @ q.mT, strict=True):
            each.copy_(product.view(each.shape))
    state.forget_factors()


def _parts(memory: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    parts = memory.split([math.prod(each) for each in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _orthogonalize(matrices: Tensor, epsilon: float) -> None:
    """Make the columns of each matrix of a batch orthogonal and their length one."""
    if matrices.shape[-1] <= 2 or matrices.dtype in (float16, bfloat16):
        _orthogonalize_one_by_one(matrices, epsilon)
    else:
        matrices.copy_(ops.linalg_qr(matrices)[0])


def _orthogonalize_one_by_one(matrices: Tensor, epsilon: float) -> None:
    """By Gram and Schmidt, which half precision can do, and which is faster for two columns."""
    for place in range(matrices.shape[-1]):
        column, rest = matrices[..., place : place + 1], matrices[..., place + 1 :]
        column.div_(ops.linalg_vector_norm(column, dim=[-2], keepdim=True) + epsilon)
        rest.sub_((column * rest).sum(-2, keepdim=True) * column)
