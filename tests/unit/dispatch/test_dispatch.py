"""The registry, `ops`, the trace, and what the dispatcher does besides calling."""

from inspect import unwrap

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch._core.tensor import wrap
from mindtorch.dispatch import operators
from mindtorch.dispatch.keys import backend_named, backend_of, register_backend
from mindtorch.dispatch.modes.trace import show_dispatch_trace
from mindtorch.dispatch.registry import KernelTable, find_op, kernel_table, register_kernel
from mindtorch.dispatch.schema.function_schema import parse_schema


class ListArray:
    """The array of a toy backend."""

    device = torch.device("privateuseone")

    def __init__(self, values):
        self.values = values
        self.shape = (len(values),)
        self.dtype = np.dtype("float32")
        self.ndim = 1


class TestRegistry:
    def test_an_out_of_tree_backend(self):
        register_backend("Toy", ListArray, "privateuseone")
        register_kernel("Toy", "exp", lambda input, out=None: ListArray([2.0**value for value in input.values]))
        result = torch.exp(wrap(ListArray([1.0, 2.0])))
        assert result._mt_array.values == [2.0, 4.0]

    def test_a_missing_kernel(self):
        register_backend("Toy", ListArray, "privateuseone")
        message = "Could not run 'aten::log' with arguments from the 'Toy' backend.*only available for these backends"
        with pytest.raises(NotImplementedError, match=message):
            torch.log(wrap(ListArray([1.0])))

    def test_a_later_kernel_is_found(self):
        table = KernelTable("nothing")
        with pytest.raises(NotImplementedError):
            table[np.ndarray]
        table[np.ndarray] = len
        assert unwrap(table[np.ndarray]) is len

    def test_built_in_kernels_are_registered_like_others(self):
        assert np.ndarray in kernel_table("mul.Tensor") and "CPU" in kernel_table("mul.Tensor").backends()

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match="unknown backend 'XYZ'"):
            backend_named("XYZ")
        assert backend_of(np.ndarray).name == "CPU" and backend_of(int) is None

    def test_a_kernel_of_an_unknown_op(self):
        with pytest.raises(ValueError, match="unknown op 'mull.Tensor'; did you mean 'mul.Tensor'?"):
            register_kernel("CPU", "mull.Tensor", len)

    def test_a_registered_device_exists(self):
        with pytest.raises(RuntimeError, match="at start of device string: toydevice"):
            torch.device("toydevice")
        register_backend("Toy", ListArray, "toydevice")
        assert torch.device("toydevice:1").index == 1

    def test_functions_lead_to_their_entries(self):
        assert torch.mul.op is find_op("mul.Tensor") and torch.mul.op.function == torch.mul


class TestOps:
    def test_overloads(self):
        assert operators.aten.add.Tensor(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
        assert operators.aten.exp.default(self=torch.zeros(2)).tolist() == [1, 1]
        assert operators.aten.sum(torch.ones(2)).item() == 2
        assert "dim_IntList" in operators.aten.sum.overloads() and "default" in operators.aten.sum.overloads()

    def test_names(self):
        assert str(operators.aten.add.Tensor) == "aten.add.Tensor" and operators.aten.exp.default.name() == "aten::exp"
        assert repr(operators.aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
        assert str(operators.aten.mul.Tensor._schema) == "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"

    def test_errors(self):
        with pytest.raises(AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'foo'"):
            _ = operators.aten.foo
        with pytest.raises(AttributeError, match="The underlying op of 'aten.add' has no overload name 'foo'"):
            _ = operators.aten.add.foo


class TestSchema:
    def test_parts(self):
        schema = parse_schema("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
        assert (schema.name, schema.overload_name, schema.returns) == (
            "aten::max", "dim", ("Tensor values", "Tensor indices"),
        )  # fmt: skip
        assert [argument.name for argument in schema.arguments] == ["input", "dim", "keepdim"]

    def test_aliases_lists_and_defaults(self):
        schema = parse_schema("f(Tensor(a!) self, int[2] k=[1,2], *, Tensor?[] x, Scalar? s=None) -> Tensor(a!)")
        first, sizes, tensors, number = schema.arguments
        assert first.written and schema.is_mutable and first.type == "Tensor"
        assert sizes.is_list and sizes.default == "[1,2]" and tensors.keyword_only and number.optional


class TestTrace:
    def test_lines_are_nested(self, capsys):
        x = torch.ones(2, 2)
        with show_dispatch_trace():
            torch.matmul(x, x)
        assert capsys.readouterr().err.splitlines()[:2] == [
            "[call] op=[aten::matmul], key=[AutogradCPU]",
            " [call] op=[aten::mm], key=[AutogradCPU]",
        ]
        assert state.thread.trace_depth == 0

    def test_keys(self, capsys):
        with show_dispatch_trace():
            torch.zeros(2)
            torch.exp(torch.zeros(2, device="meta"))
            with torch.inference_mode():
                torch.exp(torch.zeros(2))
        lines = capsys.readouterr().err.splitlines()
        assert "[call] op=[aten::zeros], key=[BackendSelect]" in lines
        assert "[call] op=[aten::exp], key=[AutogradMeta]" in lines and "[call] op=[aten::exp], key=[CPU]" in lines

    @pytest.mark.usefixtures("settled")
    def test_nothing_is_printed_outside(self, capsys):
        before = state.active_modes
        with show_dispatch_trace():
            pass
        torch.exp(torch.zeros(2))
        assert capsys.readouterr().err == "" and state.active_modes == before


class TestInference:
    def test_results_are_inference_tensors(self):
        x = torch.ones(2, requires_grad=True)
        with torch.inference_mode():
            y = x * 2
            view = x[0]
            same = x.contiguous()
        assert y.is_inference() and not y.requires_grad and not view.is_inference() and same is x
        assert not x.is_inference()


def test_meta_and_cpu_do_not_mix():
    with pytest.raises(RuntimeError, match="Tensor on device meta is not on the expected device cpu!"):
        torch.zeros(2) + torch.zeros(2, device="meta")
