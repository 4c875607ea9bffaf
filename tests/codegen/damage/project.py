"""The project whose YAML is damaged: entries of mindtorch's own ops, with kernels of a few lines, so that ops can run.

``write(root)`` puts it on disk; ``OPS`` and ``DERIVATIVES`` are the two texts.
"""

from pathlib import Path

PACKAGE = "planted"
OPS = """\
# -------------------- pointwise --------------------

- func: sigmoid(Tensor self) -> Tensor
  family: pointwise
  autogen: inplace, out
  promotion: int_to_float
  shape: broadcast
  dispatch: {CPU: sigmoid, NPU: sigmoid}
  aclnn: aclnnSigmoid(self, out)
  tags: core, pointwise
  dtypes: wide_float_complex
  samples: unary

- func: atan2(Tensor self, Tensor other) -> Tensor
  family: pointwise
  autogen: inplace, out
  numbers: other
  promotion: int_to_float
  shape: broadcast
  dispatch: {CPU: atan2, NPU: atan2}
  aclnn: aclnnAtan2(self, other, out)
  tags: core, pointwise
  autocast_npu: promote
  dtypes: wide_float
  samples: binary

- func: lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor
  family: pointwise
  autogen: inplace, out
  promotion: default
  shape: broadcast
  dispatch: {CPU: lerp, NPU: lerp}
  aclnn: aclnnLerps(self, end, weight, out)
  tags: pointwise
  dtypes: wide_float_complex
  samples: binary_with_number

- func: threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor
  family: pointwise
  autogen: inplace, out
  promotion: default
  shape: broadcast
  dispatch: {CPU: threshold}
  tags: pointwise
  dtypes: wide_float
  samples: thresholds

- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
  family: pointwise
  autogen: out
  promotion: where
  shape: broadcast
  dispatch: {CPU: where, NPU: where}
  aclnn: aclnnSWhere(condition, self, other, out)
  dtypes: wide_float_complex
  samples: choices

- func: gap(Tensor self, Tensor other, *, float width=1.0) -> Tensor
  family: pointwise
  decomposition: mul(sub(self, other), width)
  dtypes: wide_float_complex
  samples: binary_with_width

# -------------------- reduction --------------------

- func: amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
  family: reduction
  autogen: out
  promotion: first
  shape: reduce
  dispatch: {CPU: amax, NPU: amax}
  aclnn: aclnnAmax(self, dims(dim), keepdim, out)
  tags: core, reduction
  dtypes: wide_float
  samples: reductions

- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  family: reduction
  out: max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)
  promotion: first_index
  shape: reduce
  dispatch: {CPU: max_dim, NPU: max_dim}
  aclnn: aclnnMaxDim(self, dim, keepdim, values, indices)
  dtypes: wide_float
  samples: reductions_of_one

- func: logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
  family: reduction
  autogen: out
  promotion: int_to_float
  shape: reduce
  dispatch: {CPU: logsumexp}
  autocast: fp32
  dtypes: wide_float
  samples: reductions_of_some
  deprecated:
    - func: logsumexp(Tensor self, int[1] axis, bool keepdim=False) -> Tensor
      since: 0.1.0
      removal: 9.0.0
      replacement: logsumexp(self, axis, keepdim)
  versions:
    - version: 1
      func: logsumexp(Tensor self, int[1] axis, bool keepdim=False) -> Tensor
      upgrade: logsumexp(self, axis, keepdim)

# -------------------- view --------------------

- func: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)
  family: view
  shape: view
  view: single
  dispatch: {CPU: select}
  tags: core
  dtypes: wide_float_complex
  samples: places

- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  family: view
  autogen: out
  promotion: default
  shape: cat
  dispatch: {CPU: cat, NPU: cat}
  aclnn: aclnnCat(tensors, dim, out)
  tags: core
  dtypes: wide_float_complex
  samples: lists
"""  # noqa: E501
DERIVATIVES = """\
# -------------------- pointwise --------------------

- name: sigmoid(Tensor self) -> Tensor
  self: sigmoid_backward(grad, result)
  result: auto_element_wise

- name: atan2(Tensor self, Tensor other) -> Tensor
  self: grad * other * reciprocal_or_zero(self * self + other * other)
  other: "-(grad * self) * reciprocal_or_zero(self * self + other * other)"
  result: (self_t * other_p - other_t * self_p) / (self_p * self_p + other_p * other_p)

- name: lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor
  self: scaled(grad, 1 - conj(weight))
  end: scaled(grad, conj(weight))
  result: self_t * (1 - weight) + end_t * weight

- name: threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor
  self: threshold_backward(grad, self, threshold)
  result: auto_element_wise

- name: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
  condition: non_differentiable
  self: grad.masked_fill(logical_not(condition), 0)
  other: grad.masked_fill(condition, 0)
  result: where(condition, self_t, other_t)

# -------------------- reduction --------------------

- name: amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
  self: extremal_reduction_backward(grad, self, result, dim, keepdim)
  result: extremum_along_jvp(self_t, self_p, result, dim, keepdim)
  complex: refused

- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  self: pick_backward(grad, dim, indices, self.shape, keepdim)
  values: pick_jvp(self_t, dim, indices, keepdim)
  output_differentiability: [True, False]

- name: logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
  self: logsumexp_backward(grad, self, result, dim, keepdim)
  result: logsumexp_jvp(self_t, self_p, dim, keepdim)

# -------------------- view --------------------

- name: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)
  self: select_backward(grad, self.shape, dim, index)
  result: auto_linear

- name: cat(Tensor[] tensors, int dim=0) -> Tensor
  tensors: cat_backward(grad, tensors.shapes, dim)
  result: auto_linear
"""
_SETTINGS = """\
[tool.mindtorch-codegen]
package = "planted"
families = ["pointwise", "reduction", "view"]

[tool.mindtorch-codegen.backends]
CPU = "src/planted/cpu"
NPU = "src/planted/npu"
"""
_PACKAGE = """\
from planted._generated import registry as registry
from planted._generated.functions import *  # noqa: F403
"""
_POINTWISE = """\
import numpy as np

from mindtorch.backends.writing import deliver


def sigmoid(input, out=None):
    return deliver(1 / (1 + np.exp(-input)), out)


def atan2(input, other, out=None):
    return deliver(np.arctan2(input, other), out)


def lerp(input, end, weight, out=None):
    return deliver(input + weight * (end - input), out)


def threshold(input, threshold, value, out=None):
    return deliver(np.where(input > threshold, input, np.asarray(value, input.dtype)), out)


def where(condition, input, other, out=None):
    return deliver(np.where(condition, input, other), out)
"""
_REDUCTION = """\
import numpy as np

from mindtorch.backends.writing import deliver


def _axes(dim):
    return tuple(dim) or None


def amax(input, dim, keepdim, out=None):
    return deliver(np.amax(input, axis=_axes(dim), keepdims=keepdim), out)


def max_dim(input, dim, keepdim, out=None):
    values, indices = out or (None, None)
    places = np.argmax(input, axis=dim, keepdims=keepdim)
    return deliver(np.amax(input, axis=dim, keepdims=keepdim), values), deliver(places, indices)


def logsumexp(input, dim, keepdim, out=None):
    return deliver(np.log(np.sum(np.exp(input), axis=_axes(dim), keepdims=keepdim)), out)
"""
_VIEW = """\
import numpy as np

from mindtorch.backends.writing import deliver


def select(input, dim, index):
    return input[(slice(None),) * (dim % input.ndim) + (index,)]


def cat(tensors, dim, out=None):
    return deliver(np.concatenate(tensors, axis=dim), out)
"""
_SAMPLES = """\
import numpy as np

from mindtorch.testing.ops import call


def unary(make):
    yield call(make())
    yield call(make(2, 3))


def binary(make):
    yield call(make(2, 3), make(2, 3))
    yield call(make(2, 3), make(3))


def binary_with_number(make):
    yield call(make(2, 3), make(3), 0.3)


def binary_with_width(make):
    yield call(make(2, 3), make(3), width=2.5)


def thresholds(make):
    yield call(make(2, 3), 0.5, 3.0)


def choices(make):
    yield call(make(3, low=-1, high=1, dtype="bool", differentiable=False), make(2, 3), make(2, 3))


def reductions(make):
    yield call(make(2, 3))
    yield call(make(2, 3), [1], True)
    yield call(make(2, 3, 2), [0, 2])


def reductions_of_one(make):
    yield call(make(2, 3), 1)
    yield call(make(2, 3), -2, True)


def reductions_of_some(make):
    yield call(make(2, 3), [1])
    yield call(make(2, 3, 2), [0, 2], True)


def places(make):
    yield call(make(2, 3), 1, 2)
    yield call(make(2, 3), -2, 0)


def lists(make):
    yield call([make(2, 3), make(1, 3)])
    yield call([make(2, 3), make(2, 1)], dim=1)


def _logsumexp(values, dim, keepdim=False):
    return np.log(np.sum(np.exp(values), axis=tuple(dim), keepdims=keepdim))


REFERENCES = {
    "sigmoid": lambda values: 1 / (1 + np.exp(-values)),
    "atan2": np.arctan2,
    "lerp": lambda values, end, weight: values + weight * (end - values),
    "threshold": lambda values, threshold, value: np.where(values > threshold, values, value),
    "where": np.where,
    "gap": lambda values, other, width=1.0: (values - other) * width,
    "amax": lambda values, dim=(), keepdim=False: np.amax(values, axis=tuple(dim) or None, keepdims=keepdim),
    "logsumexp": _logsumexp,
    "select": lambda values, dim, index: np.take(values, index, dim),
    "cat": lambda tensors, dim=0: np.concatenate(tensors, dim),
}
"""
_FILES = {
    "ops.yaml": OPS,
    "derivatives.yaml": DERIVATIVES,
    "pyproject.toml": _SETTINGS,
    "src/planted/__init__.py": _PACKAGE,
    "src/planted/cpu/__init__.py": "",
    "src/planted/cpu/pointwise.py": _POINTWISE,
    "src/planted/cpu/reduction.py": _REDUCTION,
    "src/planted/cpu/view.py": _VIEW,
    "tests/samples.py": _SAMPLES,
}


def write(root: Path) -> Path:
    """The project in the folder ``root``."""
    for name, text in _FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
