"""What is known of a formula without running it: what it saves, which gradients it uses, how it is rewritten."""

import pytest

from codegen.errors import Problems
from codegen.model import Location
from codegen.read.formula import read_formula
from codegen.read.schema_parser import parse_schema
from codegen.read.scope import Helper, Scope
from codegen.read.yaml_source import Scalar
from codegen.sources.call_forms import ANY_CALL, CallForm

HELPERS = {
    "multiply": Helper("multiply", CallForm(("grad", "factor"))),
    "sizes": Helper("sizes", CallForm(("tensor", "dims"), optional=frozenset(("dims",)))),
    "LOG_2": Helper("LOG_2"),
}
SCHEMA = (
    "f(Tensor self, Tensor? weight, Tensor[] tensors, int dim, bool keepdim=False)"
    " -> (Tensor values, Tensor indices)"
)
HERE = Location("derivatives.yaml", 1, 1)


def read(source, role="backward", schema=SCHEMA):
    parsed = parse_schema(Scalar(schema, HERE))
    outputs = parsed.result_names[:1]
    scope = Scope(parsed, HELPERS, dict.fromkeys(("sum", "real", "max", "zeros_like", "matmul"), ANY_CALL), outputs)
    problems = Problems()
    formula = read_formula(Scalar(source, HERE), ("self",), role, scope, problems)
    assert not problems, problems.diagnostics
    return formula


def saved(source, **options):
    return [(value.kind, value.expression) for value in read(source, **options).saved]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("grad", []),
        ("grad * self", [("input", "self")]),
        ("grad * weight", [("input", "weight")]),
        ("multiply(grad, tensors)", [("input", "tensors")]),
        ("grad.sum(dim, keepdim)", [("value", "dim"), ("value", "keepdim")]),
        ("grad * values", [("output", "values")]),
        ("grad * result0", [("output", "values")]),
        ("grad.gather(dim, indices)", [("value", "dim"), ("output", "indices")]),
        ("grad.expand(self.shape)", [("metadata", "self.shape")]),
        ("grad.to(self.dtype)", [("metadata", "self.dtype")]),
        ("grad.to(self.device) * self.ndim", [("metadata", "self.device"), ("metadata", "self.ndim")]),
        ("grad if self.layout else None", [("metadata", "self.layout")]),
        ("grad / self.numel()", [("metadata", "self.numel()")]),
        ("grad.as_strided(self.size(), self.stride(), self.storage_offset())",
         [("metadata", "self.size()"), ("metadata", "self.stride()"), ("metadata", "self.storage_offset()")]),
        ("real(grad) if not self.is_complex() else grad", [("metadata", "self.is_complex()")]),
        ("grad if self.is_floating_point() and self.dim() else None",
         [("metadata", "self.is_floating_point()"), ("metadata", "self.dim()")]),
        ("grad * self.size(0) + self.size(dim)", [("metadata", "self.size()"), ("value", "dim")]),
        ("grad * self.shape[0]", [("metadata", "self.shape")]),
        ("grad.reshape(weight.shape)", [("metadata", "weight.shape")]),
        ("multiply(grad, tensors.shapes)", [("metadata", "tensors.shapes")]),
        ("multiply(grad, tensors.dtypes)", [("metadata", "tensors.dtypes")]),
        ("multiply(grad, self.shapes)", [("input", "self")]),
        ("grad * self.sum(dim)", [("input", "self"), ("value", "dim")]),
        ("grad * self.numel(1)", [("input", "self")]),
        ("grad * self.size(dim=0)", [("input", "self")]),
        ("grad.expand(self.shape) * self", [("input", "self")]),
        ("grad * self * self.numel()", [("input", "self")]),
        ("grad * self + self * self", [("input", "self")]),
        ("multiply(grad, [dim for dim in range(3)])", []),
        ("multiply(grad, [self for self in (1, 2)])", []),
        ("multiply(grad, [x * dim for x in tensors])", [("value", "dim"), ("input", "tensors")]),
        ("multiply(grad, lambda weight: weight + dim)", [("value", "dim")]),
    ],
)  # fmt: skip
def test_saved_values(source, expected):
    assert saved(source) == expected


@pytest.mark.parametrize("role", ["forward", "when"])
def test_nothing_is_saved_for_what_runs_with_the_op(role):
    assert saved("self.dtype if dim else weight", role=role) == []


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        ("multiply(grad, self.shape)", ["self_shape"]),
        ("multiply(grad, self.stride())", ["self_stride"]),
        ("multiply(grad, self.size(0))", ["self_size"]),
        ("tensors.shapes", ["tensors_shapes"]),
        ("self * dim", ["self", "dim"]),
    ],
)
def test_field_names(source, fields):
    assert [value.field for value in read(source).saved] == fields


@pytest.mark.parametrize(
    ("source", "grads"),
    [("grad", (0,)), ("grads[0]", (0,)), ("grad_values", (0,)), ("multiply(grads, 2)", (0,)), ("self", ())],
)
def test_gradients(source, grads):
    formula = read(source)
    assert (formula.grads, formula.uses_grad) == (grads, bool(grads))


def test_gradients_of_a_list_are_all_used():
    assert read("grads[dim]", schema="f(Tensor self, int dim) -> Tensor[]").names == {"grads", "dim"}


def test_names():
    formula = read("multiply(sum(grad), needs_input_grad.weight) * LOG_2 * max(dim, 1)")
    assert formula.names == {"multiply", "sum", "grads[0]", "needs_input_grad.weight", "LOG_2", "max", "dim"}
    assert formula.helpers == ("multiply", "LOG_2")
    assert formula.ops == ("sum",)


def test_called_name_is_a_function_even_if_an_argument_has_that_name():
    formula = read("real(grad) * real", schema="complex(Tensor real, Tensor imag) -> Tensor")
    assert formula.ops == ("real",)
    assert [value.expression for value in formula.saved] == ["real"]


def test_primals_and_tangents():
    formula = read("self_t * weight_p + weight_t * self_p + sizes(tensors_t)", "forward")
    assert (formula.primals, formula.tangents) == (("weight", "self"), ("self", "weight", "tensors"))


@pytest.mark.parametrize(
    ("source", "names", "expected"),
    [
        ("grad * self", {"grads[0]": "g", "self": "node.x"}, "g * node.x"),
        ("grad + grad_values", {"grads[0]": "g"}, "g + g"),
        ("grads[0] * 2", {"grads[0]": "g"}, "g * 2"),
        ("grad.expand(self.shape)", {"self.shape": "shape"}, "grad.expand(shape)"),
        ("multiply(grad, self.stride())", {"self.stride()": "s"}, "multiply(grad, s)"),
        ("multiply(self.size(dim), self.size())", {"self.size()": "s", "dim": "d"}, "multiply(s[d], s)"),
        ("multiply(grad, self.size(self.ndim - 1))", {"self.size()": "s", "self.ndim": "n"},
         "multiply(grad, s[n - 1])"),
        ("self.shape[0] * self", {"self": "x"}, "x.shape[0] * x"),
        ("multiply(grad, needs_input_grad.self)", {"needs_input_grad.self": "a"}, "multiply(grad, a)"),
        ("sum([self for self in tensors])", {"self": "x", "tensors": "t"}, "sum([self for self in t])"),
        ("multiply(grad, factor=dim)", {"dim": "d", "factor": "f"}, "multiply(grad, factor=d)"),
        ("grad.div('é', dim, 'dim')", {"dim": "d"}, "grad.div('é', d, 'dim')"),
        ("sum(values)", {"sum": "ops.sum", "values": "v"}, "ops.sum(v)"),
        ("result0 + result1", {"values": "v", "indices": "i"}, "v + i"),
    ],
)  # fmt: skip
def test_rewriting(source, names, expected):
    assert read(source).rewritten(names) == expected


@pytest.mark.parametrize(
    ("source", "role"),
    [
        ("non_differentiable", "backward"),
        ("not_implemented", "backward"),
        ("auto_linear", "forward"),
        ("auto_element_wise", "forward"),
    ],
)
def test_keywords(source, role):
    formula = read(source, role)
    assert (formula.kind, formula.is_expression, formula.saved) == (source, False, ())
