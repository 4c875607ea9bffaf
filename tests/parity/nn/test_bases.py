"""Base classes of layers, by which libraries recognize kinds of layers: torch's, private ones included."""

import importlib

import pytest
import torch

import mindtorch

# What torch builds its layers of, and is not shared by kinds of them.
MODULES = "activation batchnorm conv dropout instancenorm linear padding pooling sparse".split()
NOT_HERE = {"_LazyConvXdMixin", "_LazyNormBase", "TensorBase"}


def layers(place):
    module = importlib.import_module(f"torch.nn.modules.{place}")
    return [
        name
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, torch.nn.Module) and each.__module__ == module.__name__
    ]


@pytest.mark.parametrize("place", MODULES)
def test_layers_have_the_base_classes_of_torch(place):
    names = layers(place)
    assert names
    theirs = importlib.import_module(f"torch.nn.modules.{place}")
    ours = importlib.import_module(f"mindtorch.nn.modules.{place}")
    for name in names:
        bases = [each for each in getattr(theirs, name).__mro__[1:] if each.__module__.startswith("torch.nn")]
        for base in bases:
            if base.__name__ in NOT_HERE or name in NOT_HERE or base.__name__ == name:
                continue
            found = getattr(importlib.import_module("mindtorch" + base.__module__[5:]), base.__name__)
            assert issubclass(getattr(ours, name), found), (name, base)


def test_padding_layers_still_pad():
    for library in (torch, mindtorch):
        x = library.arange(3.0).reshape(1, 3)
        assert library.nn.ZeroPad1d(1)(x).tolist() == [[0, 0, 1, 2, 0]]
        assert repr(library.nn.ZeroPad1d(1)) == "ZeroPad1d((1, 1))"
        assert library.nn.ConstantPad1d((0, 1), 5.0)(x).tolist() == [[0, 1, 2, 5]]
        assert library.nn.ReflectionPad1d(1)(x).tolist() == [[1, 0, 1, 2, 1]]
        assert library.nn.ReplicationPad1d(1)(x).tolist() == [[0, 0, 1, 2, 2]]
        assert library.nn.CircularPad1d(1)(x).tolist() == [[2, 0, 1, 2, 0]]
