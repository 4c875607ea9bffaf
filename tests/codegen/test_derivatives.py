"""What an entry of derivatives.yaml gives."""

import pytest

from codegen.emit import emit_all
from codegen.load import load
from codegen.read.derivative_entries import node_prefix
from tests.codegen.project import load_project


def load_derivative(root, entry):
    (derivative,) = load_project(root, derivatives=entry).derivatives.values()
    return derivative


def test_saved_values_know_the_gradients_that_need_them(tmp_path):
    derivative = load_derivative(
        tmp_path,
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: multiply(grad, weight, fast) * factor
          weight: multiply(grad, self).reshape(weight.shape) * factor
        """,
    )
    assert [(use.value.expression, use.arguments) for use in derivative.saved] == [
        ("weight", ("self",)),
        ("fast", ("self",)),
        ("factor", ("self", "weight")),
        ("self", ("weight",)),
        ("weight.shape", ("weight",)),
    ]


def test_formula_of_several_arguments(tmp_path):
    derivative = load_derivative(
        tmp_path,
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self, other: multiply(grad, self)
        """,
    )
    (formula,) = derivative.backward
    assert formula.targets == ("self", "other")
    assert derivative.backward_of("other") is formula
    assert [use.arguments for use in derivative.saved] == [("self", "other")]


def test_edges_and_forward(tmp_path):
    derivative = load_derivative(
        tmp_path,
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: not_implemented
          weight: non_differentiable
          result: not_implemented
        """,
    )
    assert [argument.name for argument in derivative.edges] == ["self"]
    assert derivative.forward_of("result").kind == "not_implemented"
    assert derivative.forward_of("other") is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [("", (True, True)), ("output_differentiability: [True, False]", (True, False))],
)
def test_differentiable_outputs(tmp_path, line, expected):
    name = "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
    derivative = load_derivative(tmp_path, f"- name: {name}\n  self: grad\n  {line}\n")
    assert derivative.output_differentiability == expected


def test_when(tmp_path):
    entry = """
    - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: grad
      other: grad
      when: self.is_complex() or other.dtype
    """
    when = load_derivative(tmp_path, entry).when
    assert when.names == {"self.is_complex()", "other.dtype"}
    assert when.rewritten({"self.is_complex()": "a", "other.dtype": "b"}) == "a or b"


@pytest.mark.parametrize(("line", "expected"), [("", False), ("complex: refused", True)])
def test_complex_tensors(tmp_path, line, expected):
    entry = f"- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: grad\n  other: grad\n  {line}\n"
    assert load_derivative(tmp_path, entry).refuses_complex is expected
    function = emit_all(load(tmp_path))["generated/ops/pointwise.py"]
    refusal = 'refuse_complex("mul", input, other)'
    assert (refusal in function) is expected


def test_inplace_variant_uses_the_functional_formula_and_out_has_none(tmp_path):
    model = load_project(tmp_path)
    assert model.derivative_of(model.ops["mul_.Tensor"]) is model.derivatives["mul.Tensor"]
    assert model.derivative_of(model.ops["mul.out"]) is None
    assert model.derivative_of(model.ops["cat"]) is None


def test_node_names_count_per_base_name(tmp_path):
    ops = "".join(
        f"- func: {name}(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {{CPU: f}}\n"
        for name in ("pow.A", "pow.B", "pow.C", "pow.D", "exp")
    )
    derivatives = """
    - name: pow.B(Tensor self) -> Tensor
      self: grad
    - name: pow.A(Tensor self) -> Tensor
      self: non_differentiable
    - name: exp(Tensor self) -> Tensor
      self: grad
    - name: pow.D(Tensor self) -> Tensor
      self: grad
      node: Power
    - name: pow.C(Tensor self) -> Tensor
      self: grad
    """
    found = load_project(tmp_path, ops, derivatives).derivatives
    assert {name: derivative.node for name, derivative in found.items()} == {
        "pow.B": "PowBackward0",
        "pow.A": "",
        "exp": "ExpBackward0",
        "pow.D": "Power",
        "pow.C": "PowBackward1",
    }


@pytest.mark.parametrize(
    ("base", "prefix"),
    [
        ("add", "AddBackward"),
        ("_softmax", "SoftmaxBackward"),
        ("log1p", "Log1PBackward"),
        ("max_pool2d_with_indices", "MaxPool2DWithIndicesBackward"),
        ("nll_loss_forward", "NllLossBackward"),
        ("threshold_backward", "ThresholdBackwardBackward"),
    ],
)
def test_node_prefix(base, prefix):
    assert node_prefix(base) == prefix
