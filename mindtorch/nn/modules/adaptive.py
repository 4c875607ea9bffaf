"""A softmax over many classes, of which rare ones share places in its head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.modules.container import ModuleList, Sequential
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The head knows the frequent classes and the clusters of the others; each cluster has a smaller tail."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number, (start, end) in enumerate(zip(self.cutoffs, self.cutoffs[1:]), 1):
            width = int(in_features // div_value**number)
            first = Linear(in_features, width, bias=False, **options)
            self.tail.append(Sequential(first, Linear(width, end - start, bias=False, **options)))

    def reset_parameters(self) -> None:
        """New parameters for all layers."""
        tails = cast(Iterable[Sequential], self.tail)
        for layer in (self.head, *(cast(Linear, layer) for tail in tails for layer in tail)):
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        _check_targets(input_, target_)
        is_batched = target_.ndim > 0
        input, target = (input_, target_) if is_batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        if ((target < 0) | (target >= self.n_classes)).any():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = self.head(input).log_softmax(1)
        places, output = target, input.new_zeros(target.shape[0])
        for number, (start, end) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            rows = ((target >= start) & (target < end)).nonzero().squeeze(1)
            if rows.numel():
                logs = self.tail[number](input.index_select(0, rows)).log_softmax(1)
                found = logs.gather(1, (target[rows] - start).unsqueeze(1)).squeeze(1)
                output = output.index_copy(0, rows, found)
                places = places.index_fill(0, rows, self.shortlist_size + number)
        output = output + head.gather(1, places.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes."""
        head = self.head(input).log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for number, tail in enumerate(self.tail):
            parts.append(tail(input).log_softmax(1) + head[:, self.shortlist_size + number].unsqueeze(1))
        return ops.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row; tails are asked only where the head prefers their cluster."""
        best = self.head(input).argmax(1)
        return ops.where(best >= self.shortlist_size, self.log_prob(input).argmax(1), best)


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    if (
        cutoffs != sorted(set(cutoffs))
        or cutoffs[0] <= 0
        or cutoffs[-1] > n_classes - 1
        or any(int(cutoff) != cutoff for cutoff in cutoffs)
    ):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
            "where each value is between 1 and n_classes-1"
        )


def _check_targets(input: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, "
            f"but found inputs with size {input.size()}"
        )
