"""The ACLNN call of an entry: its form, the names in it, and what the function takes."""

import pytest

from codegen.errors import Problems
from codegen.load import load
from codegen.npu.aclnn_call import NotACall, parse_call
from codegen.npu.aclnn_table import signatures
from codegen.npu.kernels import npu_kernels
from codegen.project import Project
from tests.codegen.project import Case, check_case, diagnostics, write_project
from tests.harness import ROOT

ENTRY = """
- func: {}
  family: pointwise
  dispatch: {{CPU: f, NPU: f}}
  aclnn: {}
"""
ADD = "add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
ADDMV = "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor"
SUM = "sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
ALL_OF = "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"
ANY = "any(Tensor self, int dim, bool keepdim=False) -> Tensor"
TOPK = "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"
SORT = "sort(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"
GELU = "gelu(Tensor self, *, str approximate='none') -> Tensor"
GELU_BACKWARD = "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor"
DIVIDED = "div(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"
SHIFT = "shift(Tensor self, Scalar other) -> Tensor"
FILL = "fill(Tensor self, Tensor mask, Scalar value) -> Tensor"
UNIFORM = "uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)"
MM = "mm(Tensor self, Tensor mat2) -> Tensor"
NAN = "isnan(Tensor self) -> Tensor"
LOGIT = "logit(Tensor self, float? eps=None) -> Tensor"
CLAMP = "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"
EMBEDDING = "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool sparse=False) -> Tensor"
POOL = "pool(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False,"
POOL += " bool count_include_pad=True, int? divisor_override=None) -> Tensor"
INDEX = "index(Tensor self, Tensor?[] indices) -> Tensor"
MASKED = (
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd,"
)
MASKED += " Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"


def found_in(root, schema, call):
    return diagnostics(write_project(root, ENTRY.format(schema, call), "[]"))


@pytest.mark.parametrize(
    ("schema", "call"),
    [
        (ADD, "aclnnAdd(self, other, alpha, out)"),
        (ADD, "aclnnAdd(self,other,  alpha,out)"),
        (ADDMV, "aclnnAddmv(self, mat, vec, alpha, beta, out, cubeMathType)"),
        (SUM, "aclnnReduceSum(self, dims(dim), keepdim, dtype, out)"),
        (ALL_OF, "aclnnReduceSum(self, dims(), False, dtype, out)"),
        (ANY, "aclnnAny(self, dims(dim), keepdim, out)"),
        (TOPK, "aclnnTopk(self, k, dim, largest, sorted, values, indices)"),
        (SORT, "aclnnSort(self, or(stable, False), dim, descending, values, indices)"),
        (GELU, "aclnnGeluV2(self, code(approximate, none=0, tanh=1), out)"),
        (GELU_BACKWARD, "aclnnGeluBackwardV2(grad_output, self, approximate, out)"),
        (GELU_BACKWARD, "aclnnGeluBackwardV2(grad_output, self, 'tanh', out) without approximate"),
        (DIVIDED, "aclnnDivMod(self, other, code(rounding_mode, 0, trunc=1, floor=2), out)"),
        (SHIFT, "aclnnRightShift(self, tensor(other), out)"),
        (SHIFT, "aclnnMuls(self, other, out)"),
        (FILL, "aclnnInplaceMaskedFillScalar(clone(self), mask, value)"),
        (UNIFORM, "aclnnInplaceUniform(self, from, to, seed, offset)"),
        (MM, "aclnnMm(self, mat2, out, cubeMathType)"),
        (NAN, "aclnnNeTensor(self, self, out)"),
        (NAN, "aclnnMuls(self, -0.5e-3, out)"),
        (LOGIT, "aclnnLogit(self, or(eps, -1.0), out)"),
        (CLAMP, "aclnnClamp(self, min, max, out)"),
        (CLAMP, "aclnnClamp(self, min, None, out) without max"),
        (EMBEDDING, "aclnnEmbedding(weight, indices, out) without padding_idx, sparse"),
        (
            POOL,
            "aclnnAvgPool3d(self, kernel_size, or(stride, kernel_size), padding, ceil_mode, count_include_pad,"
            " or(divisor_override, 0), out)",
        ),
        (INDEX, "aclnnIndex(self, indices, out); masks become indices first"),
        (INDEX, "aclnnIndexPutImpl(self, indices, self, False, False); a part of it, which leaves out what it likes"),
        (
            MASKED,
            "aclnnLayerNormBackward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask,"
            " out0, out1, out2)",
        ),
    ],
)
def test_right_calls(schema, call, tmp_path):
    assert found_in(tmp_path, schema, call) == ()


@pytest.mark.parametrize(
    ("schema", "call", "code", "column", "message", "hint"),
    [
        # no call
        (ADD, "aclnnAdd", "E043", 18, "'aclnnAdd' is no call of an ACLNN function", "write aclnnAdd(self, other"),
        (ADD, "Add(self, out)", "E043", 10, "'Add(self, out)' is no call of an ACLNN function", "write aclnnAdd("),
        (ADD, "aclnnAdd(self, out", "E043", 28, "'aclnnAdd(self, out' is no call of an ACLNN function", "write aclnn"),
        (ADD, "aclnnAdd(self, )", "E043", 25, "'aclnnAdd(self, )' is no call of an ACLNN function", "write aclnnAdd("),
        (ADD, "aclnnAdd(self) twice", "E043", 25, "'aclnnAdd(self) twice' is no call of an ACLNN function", "write"),
        (ADD, "aclnnAdd(self) without alpha beta", "E043", 39, "'beta' is more than a call", "write aclnnAdd("),
        (ADD, "aclnnAdd(sum(self))", "E043", 19, "'sum' is nothing that can be done with an argument", "dims, sizes"),
        (LOGIT, "aclnnLogit(self, or(eps), out)", "E043", 27, "'or(eps)' is not how 'or' is written", "or(eps, -1.0)"),
        (
            GELU,
            "aclnnGeluV2(self, code(approximate), out)",
            "E043",
            28,
            "'code(approximate)' is not how",
            "none=0, tanh=1",
        ),
        (
            SUM,
            "aclnnReduceSum(self, dims(dim, 1))",
            "E043",
            31,
            "'dims(dim, 1)' is not how",
            "write dims(dim), or dims()",
        ),
        # names
        (ADD, "aclnnAdd(slef, other, alpha, out)", "E043", 19, "'slef' is no argument or output of add", "'self'"),
        (
            ADD,
            "aclnnAdd(self, banana, alpha, out)",
            "E043",
            25,
            "'banana' is no argument or output of add",
            "it has self, ",
        ),
        (ADD, "aclnnAdd(self, othr, alhpa, out)", "E043", 25, "'othr' is no argument or output of add", "'other'"),
        (
            TOPK,
            "aclnnTopk(self, k, dim, largest, sorted, valuesOut, indices)",
            "E043",
            51,
            "'valuesOut' is no argument",
            "'values'",
        ),
        (
            NAN,
            "aclnnNeTensor(self, self, out) without other",
            "E043",
            49,
            "the call cannot be without 'other': it is no",
            "remove",
        ),
        (
            NAN,
            "aclnnNeTensor(self, self, out) without self",
            "E043",
            49,
            "the call cannot be without 'self': it is given",
            "remove",
        ),
        # functions
        (
            ADD,
            "aclnnAd(self, other, alpha, out)",
            "E130",
            10,
            "there is no ACLNN function 'aclnnAd'",
            "did you mean aclnnAdd(aclTensor *self,",
        ),
        (
            ADD,
            "aclnnBanana(self, other, alpha, out)",
            "E130",
            10,
            "there is no ACLNN function 'aclnnBanana'",
            "codegen/aclnn_signatures.tsv",
        ),
        (
            ADD,
            "aclnnAdd(self, other, out) without alpha",
            "E131",
            10,
            "aclnnAdd is given 3 arguments, and it takes 4",
            "it is aclnnAdd(aclTensor *self, aclTensor *other, aclScalar *alpha, aclTensor *out)",
        ),
        # order
        (
            ADDMV,
            "aclnnAddmv(self, mat, vec, beta, alpha, out, cubeMathType)",
            "E132",
            37,
            "'beta' is where aclnnAddmv takes 'alpha'",
            "'beta' is the argument number 5; it is aclnnAddmv(",
        ),
        (ADD, "aclnnAdd(other, self, alpha, out)", "E132", 19, "'other' is where aclnnAdd takes 'self'", "number 2"),
        (ADD, "aclnnAdd(self, out, alpha, other)", "E132", 25, "'out' is where aclnnAdd takes 'other'", "number 4"),
        # kinds
        (
            SHIFT,
            "aclnnMul(self, other, out)",
            "E133",
            25,
            "'other' is no aclTensor *, which aclnnMul takes as 'other'",
            "it is aclnnMul(",
        ),
        (
            ANY,
            "aclnnAny(self, dim, keepdim, out)",
            "E133",
            25,
            "'dim' is no aclIntArray *, which aclnnAny takes as 'dim'",
            "write dims(dim); it is aclnnAny(",
        ),
        (
            ANY,
            "aclnnSoftmax(self, dims(dim), out) without keepdim",
            "E133",
            29,
            "'dims(dim)' is no int64_t, which aclnnSoftmax",
            "write the argument itself; it is",
        ),
        (
            LOGIT,
            "aclnnLogit(self, eps, out)",
            "E133",
            27,
            "'eps' is no double, which aclnnLogit takes as 'eps'",
            "'eps' may be None: write or(eps, ...); it is",
        ),
        (
            LOGIT,
            "aclnnLogit(self, or(eps, 1), out)",
            "E133",
            27,
            "'or(eps, 1)' is no double",
            "'1' is of another kind; it is",
        ),
        (
            ANY,
            "aclnnSoftmax(self, or(dim, 0), out) without keepdim",
            "E133",
            29,
            "'or(dim, 0)' is no int64_t",
            "'dim' is never None: write dim; it is",
        ),
        (
            GELU,
            "aclnnGeluV2(self, approximate, out)",
            "E133",
            28,
            "'approximate' is no int64_t",
            "write code(approximate, word=0); it is",
        ),
        (
            GELU,
            "aclnnGeluV2(self, code(approximate, none=0.5), out)",
            "E133",
            28,
            "'code(approximate, none=0.5)' is no int64_t",
            "its constants are of another kind; it is",
        ),
        (
            ALL_OF,
            "aclnnReduceSum(self, dims(), 0, dtype, out)",
            "E133",
            39,
            "'0' is no bool",
            "write a constant such as False; it is",
        ),
        (
            SHIFT,
            "aclnnRightShift(self, tensor(self), out) without other",
            "E133",
            32,
            "'tensor(self)' is no aclTensor *",
            "write the argument itself; it is",
        ),
        (
            SHIFT,
            "aclnnMuls(self, dtype, out) without other",
            "E133",
            26,
            "'dtype' is no aclScalar *",
            "it is aclnnMuls(",
        ),
        # what is left out
        (
            ADD,
            "aclnnMul(self, other, out)",
            "E134",
            10,
            "the call leaves out 'alpha'",
            "write '... without alpha'; if the kernel has more",
        ),
        (
            MM,
            "aclnnInplaceMul(self, mat2)",
            "E134",
            10,
            "the call does not write the result 'out'",
            "name it where it is written",
        ),
    ],
)
def test_mistakes(schema, call, code, column, message, hint, tmp_path):
    found = found_in(tmp_path, schema, call)
    first = found[0]
    assert (first.code, first.location.line, first.location.column) == (code, 4, column), str(first)
    assert first.message.startswith(message) and hint in first.hint, str(first)


@pytest.mark.parametrize(
    "case",
    [
        Case(
            "the right signature",
            ENTRY.format(ADDMV, "aclnnAddmv(self, mat, vec, beta, alpha, out)"),
            "ops.yaml:4:10: error[E131] aclnnAddmv is given 6 arguments, and it takes 7",
            "it is aclnnAddmv(aclTensor *self, aclTensor *mat, aclTensor *vec, aclScalar *alpha, aclScalar *beta,"
            " aclTensor *out, int8_t cubeMathType)",
        )
    ],
    ids=lambda case: case.name,
)
def test_mistakes_in_full(case, tmp_path):
    write_project(tmp_path, case.text, "[]")
    check_case(case, tmp_path)


def test_a_reason_may_say_anything():
    call = parse_call("aclnnIndex(self, indices, out); first (1), then 'that'")
    assert (call.function, call.reason, len(call.values)) == ("aclnnIndex", "first (1), then 'that'", 3)


def test_a_value_knows_where_it_is_and_what_is_in_it():
    text = "aclnnDivMod(self, code(mode, 0, trunc=1), or(x, y)) without a,  b"
    call = parse_call(text)
    assert [text[value.offset :][: len(value.text)] == value.text for value in (*call.values, *call.without)] == [
        True
    ] * 5
    assert [name.name for value in call.values for name in value.names] == ["self", "mode", "x", "y"]
    assert [(word, value.constant) for word, value in call.values[1].codes] == [("trunc", 1)]


@pytest.mark.parametrize(
    "text", ["", "aclnnAdd(", "aclnnAdd()", "aclnnAdd(self)) ", "aclnnAdd(or(", "aclnnAdd(code(x, a=))", "(", ","]
)
def test_what_is_no_call_never_ends_in_an_error_of_ours(text):
    with pytest.raises(NotACall):
        parse_call(text)


# -------------------- functions of other packages --------------------

FRUIT = """
[tool.mindtorch-codegen]
package = "fruit"
backends = {CPU = "src/fruit/cpu", NPU = "src/fruit/npu"}
"""


def test_a_project_lists_the_functions_that_cann_does_not_have(tmp_path):
    root = write_project(tmp_path, ENTRY.format(NAN, "aclnnPeel(self, out)"), "[]")
    (root / "pyproject.toml").write_text(FRUIT)
    (found,) = diagnostics(root)
    assert found.code == "E130" and 'aclnn_signatures = "aclnn.tsv"' in found.hint
    (root / "pyproject.toml").write_text(FRUIT + 'aclnn_signatures = "aclnn.tsv"\n')
    (root / "aclnn.tsv").write_text("# ours\naclnnPeel\tTT\tself,out\nlibcust_opapi\n")
    (found,) = diagnostics(root)
    assert str(found).splitlines()[0] == "aclnn.tsv:3:1: error[E135] not the signature of an ACLNN function"
    (root / "aclnn.tsv").write_text("aclnnPeel\tTT\tself,out\tmy repository\n")
    assert diagnostics(root) == ()
    assert {"aclnnPeel", "aclnnAdd"} < load(root).signatures.keys()


# -------------------- the repository --------------------


def test_every_line_of_the_table_is_a_signature():
    lines = (ROOT / "codegen/aclnn_signatures.tsv").read_text().splitlines()
    declared = [line.split("\t") for line in lines if not line.startswith("#")]
    table = signatures(Project(ROOT), Problems())
    assert len(declared) == len(table) and [name for name, *_ in declared] == sorted(table)
    assert all(
        table[name].kinds == kinds and ",".join(table[name].parameters) == names for name, kinds, names, _ in declared
    )


def test_kernels_are_generated_from_most_keys():
    """What changes these numbers changes what runs on the device."""
    model = load(ROOT)
    kernels = [kernel for family in model.families for kernel in npu_kernels(model, family)]
    generated = [kernel for kernel in kernels if kernel.is_generated]
    by_hand = [kernel for kernel in kernels if kernel.is_by_hand]
    assert sum(len(kernel.ops) for kernel in generated) >= 250
    assert sum(len(kernel.ops) for kernel in (*generated, *by_hand)) >= 350
    assert all(op.aclnn for kernel in generated for op in kernel.ops)
