"""Kernels for calls inside `autocast`: registered under a key of its own, and left out by a guard."""

import pytest
import torch

import mindtorch

KEYS = ("AutocastCPU", "AutocastCUDA", "AutocastXPU")


def run(T):
    """What the op `castlib::twice` does, by how it is called."""
    seen = []
    C = T._C if T is torch else mindtorch._C
    keys = C.DispatchKeySet(C.DispatchKey.AutocastCPU) | C.DispatchKeySet(C.DispatchKey.AutocastCUDA)

    def in_autocast(x, times=2):
        with C._ExcludeDispatchKeyGuard(keys):
            product = T.mm(T.ones(2, 2), T.ones(2, 2))
            seen.append((times, str(product.dtype), T.is_autocast_enabled("cpu")))
            return T.ops.castlib.twice(x.double(), times)

    with T.library._scoped_library("castlib", "DEF") as lib:
        lib.define("twice(Tensor x, int times=2) -> Tensor")
        lib.impl("twice", lambda x, times=2: x * times, "CPU")
        for key in KEYS:
            lib.impl("twice", in_autocast, key)
        twice = T.ops.castlib.twice
        one = T.ones(1)
        seen.append(str(twice(one).dtype))
        with T.autocast("cpu"):
            seen.append((str(twice(one).dtype), twice(one, times=4).tolist()))
            seen.append(str(T.mm(T.ones(2, 2), T.ones(2, 2)).dtype))
            with T.autocast("cpu", enabled=False):
                seen.append(str(twice(one).dtype))
        seen.append(str(twice(one).dtype))
    return seen


@pytest.mark.filterwarnings("ignore")
def test_kernels_for_autocast_agree():
    expected = run(torch)
    assert "torch.float64" in str(expected) and run(mindtorch) == expected


def test_other_layers_are_not_left_out():
    C = mindtorch._C
    with pytest.raises(NotImplementedError, match="AutogradCPU cannot be left out"):
        with C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.AutogradCPU)):
            pass
