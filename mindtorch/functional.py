"""`torch.functional`: the functions of `torch` that are written in Python there."""

from importlib import import_module

from mindtorch._support.lazy import names_from

_NAMES = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "cdist", "chain_matmul", "einsum", "lu", "meshgrid", "norm", "split", "stft", "tensordot",
    "unique", "unique_consecutive", "unravel_index",
)  # fmt: skip
__all__ = [*_NAMES]
_rest = names_from("mindtorch.functional", {})


def __getattr__(name: str) -> object:
    # Not kept: what takes over calls may be put in their place at any time.
    if name not in __all__:
        return _rest(name)
    return getattr(import_module("mindtorch"), name)
