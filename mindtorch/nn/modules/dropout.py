"""Dropout."""

from __future__ import annotations

from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module
from mindtorch.tensor import Tensor


class Dropout(Module):
    """In training, zeroes each element with probability p and scales the others so that the mean stays."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
