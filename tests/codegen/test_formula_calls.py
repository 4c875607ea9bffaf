"""Calls in formulas: of helpers, ops and methods of tensors, with arguments that they have or do not have."""

import pytest

from tests.codegen.project import diagnostics, load_project, write_project

OPS = """
- func: f(Tensor self, ScalarType? dtype, int dim) -> Tensor
  family: pointwise
  dispatch: {CPU: f}

- func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor
  family: reduction
  variants: function, method
  dispatch: {CPU: sum}

- func: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
  family: reduction
  variants: function, method
  autogen: out
  dispatch: {CPU: sum_dim}

- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
  family: pointwise
  variants: function, method
  dispatch: {CPU: where}

- func: permute(Tensor(a) self, int[] dims) -> Tensor(a)
  family: view
  view: single
  variants: function, method
  dispatch: {CPU: permute}

- func: copied(Tensor self, Tensor src) -> Tensor
  family: pointwise
  variants: function, method
  python_names: {src: other}
  dispatch: {CPU: copied}
"""
DERIVATIVES = "- name: f(Tensor self, ScalarType? dtype, int dim) -> Tensor\n  self: {}\n"
TENSOR = {
    "mindtorch___core__tensor": (
        "class Tensor:\n"
        "    __slots__ = ()\n"
        "    shape = dtype = ndim = None\n"
        "    @property\n"
        "    def real(self): ...\n"
        "    @cached\n"
        "    def hidden(self): ...\n"
        "    def size(self, dim=None): ...\n"
        "    def numel(self): ...\n"
        "    def is_complex(self): ...\n"
        "    def new_zeros(self, *size, dtype=None, **others): ...\n"
    ),
    "mindtorch__autograd__formulas": (
        "RATE = 2\n"
        "made = make()\n"
        "def scale(grad, factor, *, fast=False): ...\n"
        "def listed(grad, *sizes): ...\n"
        "def options(grad): ...\n"
        "def named(grad, **options): ...\n"
    ),
}
SUM = "it is sum(input, *, dtype=...) or sum(input, dim, keepdim=..., *, dtype=...) or "
SUM += "sum(input, dim, keepdim=..., *, dtype=..., out)"
SUM_METHOD = "it is sum(*, dtype=...) or sum(dim, keepdim=..., *, dtype=...)"


@pytest.mark.parametrize(
    "formula",
    [
        "grad.sum()",
        "grad.sum(dtype=dtype)",
        "grad.sum(dim)",
        "grad.sum(dim, True)",
        "grad.sum(dim=dim, keepdim=True)",
        "grad.sum((0, 1), dtype=self.dtype)",
        "sum(grad, dim, out=self)",
        "sum(input=grad)",
        "grad.where(grad, self)",
        "where(grad, grad, self)",
        "grad.permute(0, 1)",
        "grad.permute((0, 1))",
        "grad.permute(dims=(1, 0))",
        "grad.copied(other=self)",
        "grad * grad.size(dim=0)",
        "grad.new_zeros(2, 3, dtype=dtype, device=None)",
        "grad.hidden(1, 2)",
        "grad.real",
        "scale(grad, 2, fast=True)",
        "scale(factor=RATE, grad=grad)",
        "listed(grad, 1, 2, 3)",
        "named(grad, any=1)",
        "made(grad, 1)",
        "scale(*[grad, 1])",
        "scale(**options(grad))",
        "grad if dtype.is_complex else None",
        "grad if self.dtype.is_complex else None",
        "tuple(g.sum() for g in [grad])[0]",
    ],
)
def test_right_call(formula, tmp_path):
    assert load_project(tmp_path, OPS, DERIVATIVES.format(formula), **TENSOR)


@pytest.mark.parametrize(
    ("formula", "column", "message", "hint"),
    [
        ("grad.sum(dimm=0)", 18, "sum() has no argument 'dimm'", "did you mean 'dim'?"),
        ("grad.sum(0, size=2)", 21, "sum() has no argument 'size'", SUM_METHOD),
        ("sum(grad, axes=0)", 19, "sum() has no argument 'axes'", SUM),
        ("sum(self=grad)", 13, "sum() has no argument 'self'", SUM),
        ("grad.copied(src=self)", 21, "copied() has no argument 'src'", "it is copied(other)"),
        ("grad.sum(0, True, None)", 14, "wrong arguments for sum(): 3 positional", SUM_METHOD),
        ("grad.sum(0, dim=0)", 14, "wrong arguments for sum(): 1 positional and keywords dim", SUM_METHOD),
        ("sum()", 9, "wrong arguments for sum(): 0 positional", SUM),
        ("grad.where(self)", 14, "wrong arguments for where(): 1 positional", "it is where(condition, other)"),
        ("grad.permute()", 14, "wrong arguments for permute(): 0 positional", "it is permute(*dims)"),
        ("self.numel(1)", 14, "wrong arguments for numel(): 1 positional", "it is numel()"),
        ("grad.size(1, 2)", 14, "wrong arguments for size(): 2 positional", "it is size(dim=...)"),
        ("grad.real()", 14, "'real' is an attribute and no method", "write .real without brackets"),
        ("grad * self.numel", 21, "'numel' is a method, and is not called", "write .numel(...)"),
        (
            "scale(grad, 2, True)",
            9,
            "wrong arguments for scale(): 3 positional",
            "it is scale(grad, factor, *, fast=...)",
        ),
        ("scale(grad, 2, fsat=1)", 24, "scale() has no argument 'fsat'", "did you mean 'fast'?"),
        ("tuple(g.sum(dimm=0) for g in [grad])", 21, "sum() has no argument 'dimm'", "did you mean 'dim'?"),
        ("grad.sum(sum(grad, dimm=0))", 28, "sum() has no argument 'dimm'", "did you mean 'dim'?"),
    ],
)
def test_wrong_call(formula, column, message, hint, tmp_path):
    write_project(tmp_path, OPS, DERIVATIVES.format(formula), **TENSOR)
    (found,) = diagnostics(tmp_path)
    assert (found.code, found.message, found.hint) == ("E062", message, hint)
    assert (found.location.file, found.location.line, found.location.column) == ("derivatives.yaml", 2, column)


def test_calls_of_the_library_from_a_package(tmp_path):
    """A package's formulas call mindtorch's ops, of which there is only the generated table."""
    files = {
        "pyproject.toml": '[tool.mindtorch-codegen]\npackage = "wavelets"\n',
        "ops.yaml": "- func: f(Tensor self) -> Tensor\n  family: pointwise\n  samples: none\n  dispatch: {CPU: f}\n",
        "derivatives.yaml": "- name: f(Tensor self) -> Tensor\n  self: addcmul(grad, grad, grad, vale=2)\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (found,) = diagnostics(tmp_path)
    assert str(found).startswith("derivatives.yaml:2:35: error[E062] addcmul() has no argument 'vale'")
    assert found.hint == "did you mean 'value'?"
