"""What PyTorch does about arguments that ops write: versions, saved tensors, leaves, inference mode, views."""

import re

import numpy as np
import pytest
import torch

import mindtorch
from tests.harness import arguments_of, function_of, inplace_samples, model, outcome, samples_of
from tests.parity.support.peer import runs_in_torch
from tests.samples import TensorSpec

# Arguments by schema type, for the ops that no generator makes inputs for.
VALUES = {
    "Tensor[]": [TensorSpec(np.array([0.25, 0.5]), "float32"), TensorSpec(np.array([0.75, 0.5]), "float32")],
    "Scalar": 2.0,
    "Scalar[]": [2.0, 3.0],
    "Tensor?": None,
    "int?": 5,
    "SymInt": 3,
    "str?": "floor",
    "Tensor": TensorSpec(np.array([0.25, 0.5]), "float32"),
    "float": 0.5,
    "int": 3,
    "bool": True,
}
BY_NAME = {
    "other": TensorSpec(np.array(2.0), "float32"),
    "scalars": TensorSpec(np.array([2.0, 3.0]), "float32"),
    "input": TensorSpec(np.array([[1.0, -2.0], [3.0, -5.0]]), "float32"),
    "value": TensorSpec(np.array(2.0), "float32"),
}
# PyTorch lets these write to a leaf that requires grad.
REFUSED_HERE = ("empty_like.out", "zeros_like.out", "ones_like.out", "full_like.out")

# An error names the op, and the view: they may be made of others here than in PyTorch.
NAMES = re.compile(r"Output \d of \w+|[\w:]+(?=\(\): functions with out=)")


def written_arguments():
    """Every op with the place of each of its arguments that is written, or None for `out`.

    Composite ops hand their `out` to one of the ops that they are made of, or copy to it; several are tested as one is.
    """
    for op in model().ops.values():
        if not runs_in_torch(op) or op.family == "sparse":
            continue
        if op.kind != "out":
            places = [place for place, argument in enumerate(op.schema.arguments) if argument.is_written]
            yield from (pytest.param(op, place, id=f"{op.name}-{place}") for place in places)
        elif len(op.schema.out_arguments) == 1 and not op.is_composite and not (op.factory or op.name in REFUSED_HERE):
            yield pytest.param(op, None, id=op.name)


def sample_of(op, place):
    """The arguments of a call; float tensors without gaps are written."""
    root = model().ops[op.derived_from] if op.derived_from else op
    if not root.samples or root.samples == "none":
        return _made_up(op) if op.kind != "out" else None
    make = inplace_samples if op.kind == "inplace" and op.derived_from else samples_of
    for sample in make(op if make is inplace_samples else root, "float32"):
        value = None if place is None else sample.args[place]
        fits = place is None or (isinstance(value, TensorSpec) and value.layout == "plain" and value.data.size > 1)
        if fits and not sample.refusal and not op.schema.base.startswith("_fft"):  # whose dtype is told by its name
            return list(sample.args), sample.kwargs
    return None


def _made_up(op):
    keywords = {each.name: _value(each) for each in op.schema.kwarg_only if each.default is None}
    return [_value(each) for each in op.schema.positional if each.default is None], keywords


def _value(argument):
    kind = str(argument.type)
    return BY_NAME[argument.name] if argument.name in BY_NAME and kind == "Tensor" else VALUES[kind]


class Call:
    """A call of an op in library T whose written tensor is replaced; `targets` are the tensors that stand for it."""

    def __init__(self, T, op, place, sample):
        self.T, self.place = T, place
        self.function = function_of(T, op)
        self.args, self.kwargs = arguments_of(T, list(sample[0])), arguments_of(T, dict(sample[1]))
        self.op = op

    def fresh(self):
        """A tensor like the one that is written."""
        if self.place is None:
            root = model().ops[self.op.derived_from or self.op.name]
            results = function_of(self.T, root)(*self.args, **self.kwargs)
            return (results if isinstance(results, self.T.Tensor) else results[0]).detach().clone()
        value = self.args[self.place]
        return (value[0] if isinstance(value, list) else value).detach().clone()

    def __call__(self, target):
        args, kwargs = list(self.args), dict(self.kwargs)
        if self.place is not None:
            value = args[self.place]
            args[self.place] = [target, *value[1:]] if isinstance(value, list) else target
        else:
            kwargs["out"] = target
        self.T.manual_seed(0)
        self.function(*args, **kwargs)


def _version(call, tensor, *others):
    before = [each._version for each in (tensor, *others)]
    call(tensor)
    return [each._version - version for each, version in zip((tensor, *others), before)]


def plain(T, call):
    return _version(call, call.fresh())


def leaf(T, call):
    return _version(call, call.fresh().requires_grad_())


def leaf_without_grad_mode(T, call):
    with T.no_grad():
        return _version(call, call.fresh().requires_grad_())


def view(T, call):
    base = call.fresh()
    return _version(call, base.view(base.shape), base)


def part(T, call):
    """A view of a part: the base changes where it is written."""
    target = call.fresh()
    base = T.stack([target, target])
    seen, versions = base[0], _version(call, base[0], base)
    return versions, T.equal(seen, base[0]), T.equal(base[1], target)


def view_of_a_leaf(T, call):
    base = call.fresh().requires_grad_()
    return _version(call, base.view(base.shape))


def view_of_a_result(T, call):
    base = call.fresh().requires_grad_() * 1
    seen = base.view(base.shape)
    return _version(call, seen, base), seen.requires_grad, base.requires_grad


def view_from_no_grad(T, call):
    base = call.fresh().requires_grad_() * 1
    with T.no_grad():
        seen = base.view(base.shape)
    return _version(call, seen)


def one_of_several_views(T, call):
    return _version(call, T.stack([call.fresh().requires_grad_() * 1]).unbind()[0])


def inference_tensor(T, call):
    with T.inference_mode():
        target = call.fresh()
    call(target)


def inference_tensor_inside(T, call):
    with T.inference_mode():
        call(call.fresh())


def ordinary_tensor_in_inference_mode(T, call):
    target = call.fresh()
    with T.inference_mode():
        return _version(call, target)


def saved(T, call):
    """A tensor that a graph keeps is written."""
    target = call.fresh()
    weight = T.ones_like(target).requires_grad_()
    product = (weight * target).sum()
    call(target)
    product.backward()


CASES = [
    plain, leaf, leaf_without_grad_mode, view, part, view_of_a_leaf, view_of_a_result, view_from_no_grad,
    one_of_several_views, inference_tensor, inference_tensor_inside, ordinary_tensor_in_inference_mode, saved,
]  # fmt: skip
OF_OUT = [plain, leaf_without_grad_mode, view, part, view_of_a_leaf, leaf, ordinary_tensor_in_inference_mode, saved]


def came_of(case, T, op, place, sample):
    found = outcome(case, (T, Call(T, op, place, sample)), {})
    if found.error is not None:
        return type(found.error).__name__, NAMES.sub("", str(found.error)).partition(" Hint:")[0][:200]
    return found.result


@pytest.mark.parametrize(("op", "place"), [*written_arguments()])
@pytest.mark.filterwarnings("ignore")
def test_written_argument(op, place):
    sample = sample_of(op, place)
    if sample is None:
        pytest.skip("no float tensor can be written")
    differences = {}
    for case in CASES if place is not None else OF_OUT:
        own, peer = (came_of(case, T, op, place, sample) for T in (mindtorch, torch))
        if own != peer:
            differences[case.__name__] = {"mindtorch": own, "torch": peer}
    assert differences == {}
