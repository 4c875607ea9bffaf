"""Ops of other packages: their names, their kernels on backends that come later, and what messages call them."""

import sys
from inspect import unwrap
from types import ModuleType

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.named_result import NamedResult
from mindtorch._support.op_names import base_of, namespace_of, qualified
from mindtorch.dispatch import functions_of, ops, register_backend, register_kernel
from mindtorch.dispatch.dispatcher import call
from mindtorch.dispatch.keys import device_types
from mindtorch.dispatch.modes.trace import show_dispatch_trace
from mindtorch.dispatch.namespace import public_function
from mindtorch.dispatch.registry import (
    find_op,
    kernel_table,
    register_kernels,
    register_kernels_of,
    register_op,
    unregister_op,
)

NAMES = [
    ("add.Tensor", "aten::add.Tensor", "aten", "add"),
    ("exp", "aten::exp", "aten", "exp"),
    ("wavelets::haar.out", "wavelets::haar.out", "wavelets", "haar"),
]


@pytest.mark.parametrize(("name", "full", "namespace", "base"), NAMES)
def test_names(name, full, namespace, base):
    assert (qualified(name), namespace_of(name), base_of(name)) == (full, namespace, base)


@pytest.fixture
def norm():
    """An op with the name of one of mindtorch's."""

    def norm(input):
        return input.abs().sum()

    register_op("package::norm(Tensor self) -> Tensor", norm)
    vars(functions_of("package"))["norm"] = norm
    yield norm
    vars(functions_of("package")).clear()
    unregister_op("package::norm")


def test_two_packages_have_an_op_of_one_name(norm):
    assert find_op("package::norm").function is norm
    assert functions_of("package").norm is norm and ops.norm is not norm
    assert public_function(norm) is norm
    assert torch.ops.package.norm(torch.ones(3)).item() == 3
    assert str(find_op("package::norm").schema) == "package::norm(Tensor self) -> Tensor"


def test_the_librarys_functions_are_those_of_aten():
    assert functions_of("aten") is ops


def test_a_missing_kernel_names_the_op_in_full():
    with pytest.raises(NotImplementedError, match="Could not run 'package::nothing' with arguments from the 'CPU'"):
        kernel_table("package::nothing")[np.ndarray]


def test_the_trace_prints_the_namespace(norm, capsys):
    with show_dispatch_trace():
        call(norm, torch.ones(1))
    assert capsys.readouterr().err.splitlines()[2:] == [
        "[call] op=[package::norm], key=[AutogradCPU]",
        " [redispatch] op=[package::norm], key=[CPU]",
        " [call] op=[aten::abs], key=[AutogradCPU]",
        "  [redispatch] op=[aten::abs], key=[CPU]",
        " [call] op=[aten::sum], key=[AutogradCPU]",
        "  [redispatch] op=[aten::sum], key=[CPU]",
    ]


def test_kernels_wait_for_their_backend():
    class Later(np.ndarray):
        """The arrays of a backend that is registered after the kernels."""

    kernels = {"package::a": np.sin}
    register_kernels("LATER", kernels)
    assert Later not in kernel_table("package::a")
    register_backend("LATER", Later, "later")
    assert unwrap(kernel_table("package::a")[Later]) is np.sin
    assert ("later", Later) in device_types()
    register_kernels("LATER", {"package::b": np.cos})
    assert unwrap(kernel_table("package::b")[Later]) is np.cos


def test_a_module_of_kernels_is_imported_when_its_backend_is_there(monkeypatch):
    class Device(np.ndarray):
        """The arrays of a backend whose kernels need a driver."""

    module = ModuleType("kernels_of_a_device")
    module.KERNELS = {"package::c": np.tan}
    register_kernels_of("DRIVEN", "kernels_of_a_device")
    monkeypatch.setitem(sys.modules, "kernels_of_a_device", module)
    register_backend("DRIVEN", Device, "driven")
    assert unwrap(kernel_table("package::c")[Device]) is np.tan


def test_a_kernel_of_an_unknown_op_is_refused(norm):
    with pytest.raises(ValueError, match="unknown op 'package::nrm'; did you mean 'package::norm'?"):
        register_kernel("CPU", "package::nrm", np.sin)


def test_named_results_say_whose_they_are():
    pair = type("pair", (NamedResult,), {"__annotations__": {"first": int}, "__module__": "package._generated.x"})
    assert repr(pair((1,))) == "package.return_types.pair(\nfirst=1)"
    assert repr(torch.max(torch.ones(1), 0)).startswith("torch.return_types.max(")
