"""What type checkers and readers are told: the .pyi files and the op reference."""

from tests.codegen.emitted import emit_project, expected

OPS = """
    - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
      family: pointwise
      variants: function, method
      autogen: inplace, out
      numbers: other
      operators: __mul__, __imul__
      promotion: default
      dispatch: {CPU: mul, NPU: mul}
      aclnn: aclnnMul(self, other, out)
      tags: core, pointwise

    - func: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
      family: view
      variants: method
      view: single
      dispatch: {CPU: view}

    - func: max(Tensor self) -> Tensor
      family: reduction
      variants: function, method
      dispatch: {CPU: max}

    - func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
      family: reduction
      variants: function, method
      autogen: out
      dispatch: {CPU: max_dim}

    - func: softmax(Tensor self, int[1]? dim=None, *, ScalarType? dtype=None) -> Tensor
      family: reduction
      python_module: nn
      composite: softmax
"""
DERIVATIVES = """
    - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: grad * other
      other: grad * self
      result: self_t * other_p + other_t * self_p
"""


def lines_behind(text, mark):
    return text[text.index(mark) + len(mark) :]


def code_lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_functions(tmp_path):
    files = emit_project(tmp_path, OPS, DERIVATIVES)
    assert code_lines(lines_behind(files["mindtorch/_generated/functions.pyi"], "| builtins.complex\n")) == [
        "def mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...",
        "def mul_(input: Tensor, other: Tensor | Number) -> Tensor: ...",
        "@overload",
        "def max(input: Tensor) -> Tensor: ...",
        "@overload",
        "def max(input: Tensor, dim: int, keepdim: bool = False, *, out: tuple[Tensor, ...] | None = None)"
        " -> return_types.max: ...",
    ]


def test_methods(tmp_path):
    files = emit_project(tmp_path, OPS, DERIVATIVES)
    assert code_lines(lines_behind(files["mindtorch/_generated/tensor_methods.pyi"], "class TensorMethods:\n")) == [
        '"""The ops that are methods and operators."""',
        "def mul(self, other: Tensor | Number) -> Tensor: ...",
        "def __mul__(self, other: Tensor | Number, /) -> Tensor: ...",
        "def mul_(self, other: Tensor | Number) -> Tensor: ...",
        "def __imul__(self, other: Tensor | Number, /) -> Tensor: ...",
        "@overload",
        "def view(self, size: Sequence[int]) -> Tensor: ...",
        "@overload",
        "def view(self, *size: int) -> Tensor: ...",
        "@overload",
        "def max(self) -> Tensor: ...",
        "@overload",
        "def max(self, dim: int, keepdim: bool = False) -> return_types.max: ...",
        "class TensorBase(TensorMethods):",
        '"""All methods that other modules put on Tensor; where two have the same, the one that is written by hand'
        ' counts."""',
    ]


def test_classes_that_are_put_on_tensor(tmp_path):
    """Type checkers find the hand-written methods in front of those of the ops; an op of that name is left out."""
    package = tmp_path / "mindtorch"
    for room in ("_core", "_tensor_methods"):
        (package / room).mkdir(parents=True)
    (package / "_core" / "tensor.py").write_text("class Tensor: ...\n")
    (package / "_tensor_methods" / "moving.py").write_text("@extend_tensor\nclass Moving:\n    def max(self): ...\n")
    stub = emit_project(tmp_path, OPS, DERIVATIVES)["mindtorch/_generated/tensor_methods.pyi"]
    assert "from mindtorch._tensor_methods.moving import Moving\n" in stub
    assert "class TensorBase(Moving, TensorMethods):\n" in stub
    assert "def mul(" in stub and "def max(" not in stub


def test_op_reference(tmp_path):
    page = emit_project(tmp_path, OPS, DERIVATIVES)["docs/ops/pointwise.md"]
    assert lines_behind(page, "-->\n") == expected("""
        # pointwise ops

        1 op. [All families](index.md). [What the words of promotion and shape mean](../rules.md).

        ## `mul.Tensor`

        ```
        mul.Tensor(Tensor self, Tensor other) -> Tensor
        mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
        mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
        ```
        - Python: `mindtorch.mul`; `Tensor.mul`; operators `__mul__`
        - dtypes: all
        - promotion: `default`
        - kernels: CPU `mul` (missing), NPU `mul` (missing); ACLNN `aclnnMul(self, other, out)`
        - saved: `other` (for the gradient of `self`), `self` (for the gradient of `other`)
        - tags: core, pointwise
        - gradient of self: `grad * other`
        - gradient of other: `grad * self`
        - tangent of result: `self_t * other_p + other_t * self_p`
        """)


def test_index_of_the_reference(tmp_path):
    index = emit_project(tmp_path, OPS, DERIVATIVES)["docs/ops/index.md"]
    assert "| [pointwise](pointwise.md) | 1 | 1 |\n" in index
    assert "[`max`](reduction.md#max),\n[`max.dim`](reduction.md#maxdim),\n[`softmax`](reduction.md#softmax)\n" in index
