"""A project like mindtorch with half a dozen ops, which the tests of pull requests change.

It stays as it is when the ops of mindtorch change.
"""

from pathlib import Path

OPS = """\
# The operators of a small library.

- func: leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor
  family: pointwise
  python_module: nn
  autogen: inplace, out
  promotion: default
  shape: broadcast
  dispatch: {CPU: leaky_relu}
  tags: core, pointwise

- func: tanh(Tensor self) -> Tensor
  family: pointwise
  variants: function, method
  autogen: inplace, out
  promotion: int_to_float
  shape: broadcast
  dispatch: {CPU: tanh}
  tags: core, pointwise

- func: log2(Tensor self) -> Tensor
  family: pointwise
  variants: function, method
  autogen: inplace, out
  promotion: int_to_float
  shape: broadcast
  dispatch: {CPU: log2}
  tags: core, pointwise

- func: cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
  family: reduction
  variants: function, method
  autogen: inplace, out
  promotion: sum
  shape: same
  dispatch: {CPU: cumsum}
  tags: core

- func: diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)
  family: view
  variants: function, method
  shape: view
  view: single
  dispatch: {CPU: diagonal}
  tags: core

- func: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
  family: indexing
  variants: function, method
  promotion: first
  shape: same
  dispatch: {CPU: roll}
"""

DERIVATIVES = """\
# Gradient formulas.

- name: leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor
  self: leaky_relu_backward(grad, self, negative_slope)
  result: auto_element_wise

- name: tanh(Tensor self) -> Tensor
  self: tanh_backward(grad, result)
  result: auto_element_wise

- name: log2(Tensor self) -> Tensor
  self: grad / (self * LOG_2)
  result: auto_element_wise

- name: cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
  self: cumsum_backward(grad, dim)
  result: auto_linear

- name: diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)
  self: diagonal_backward(grad, self.shape, offset, dim1, dim2)
  result: auto_linear

- name: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
  self: roll_backward(grad, shifts, dims)
  result: auto_linear
"""

# Nothing here runs: the generator reads what is defined, and with which arguments.
FORMULAS = """\
LOG_2 = 0.6931471805599453


def leaky_relu_backward(grad, self, negative_slope):
    return (self > 0) * grad + (self <= 0) * negative_slope * grad


def tanh_backward(grad, result):
    return grad * (1 - result * result)


def cumsum_backward(grad, dim):
    return grad


def diagonal_backward(grad, shape, offset, dim1, dim2):
    return grad


def roll_backward(grad, shifts, dims):
    return grad
"""

POINTWISE = """\
Number = int | float


def leaky_relu(input, negative_slope: Number = 0.01, out=None):
    return input


def tanh(input, out=None):
    return input


def log2(input, out=None):
    return input


def absolute(input):
    return input
"""

FILES = {
    "ops.yaml": OPS,
    "derivatives.yaml": DERIVATIVES,
    "mindtorch/autograd/formulas.py": FORMULAS,
    "mindtorch/backends/cpu/pointwise.py": POINTWISE,
    "mindtorch/backends/cpu/reduction.py": "def cumsum(input, dim, dtype=None, out=None):\n    return input\n",
    "mindtorch/backends/cpu/view.py": "def diagonal(input, offset=0, dim1=0, dim2=1):\n    return input\n",
    "mindtorch/backends/cpu/indexing.py": "def roll(input, shifts, dims=()):\n    return input\n",
    "pyproject.toml": '[project]\nname = "small"\nversion = "0.1.0"\n',
    "schemas/allowed.yaml": "# The breaks that are wanted.\n[]\n",
}


def write_frozen(folder: Path) -> None:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
