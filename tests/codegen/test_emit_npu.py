"""The kernels of the NPU that are generated, those that are not, and how each op runs there."""

import ast
import textwrap

import pytest

from codegen.__main__ import main
from codegen.npu.kernels import ways
from codegen.statistics import notes
from tests.codegen.emitted import definition, emit_project, expected
from tests.codegen.project import load_project, write_project

FILE = "generated/kernels/npu/pointwise.py"
ADD = """
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  family: pointwise
  autogen: inplace, out
  numbers: other
  promotion: default
  shape: broadcast
  dispatch: {CPU: add, NPU: add}
  aclnn: aclnnAdd(self, other, alpha, out)

- func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
  family: pointwise
  autogen: inplace
  promotion: default
  shape: broadcast
  dispatch: {CPU: add, NPU: add}
  aclnn: aclnnAdds(self, other, alpha, out)
"""


def entry(schema, call, shape="  promotion: first\n  shape: like\n", more=""):
    name = schema.partition("(")[0].partition(".")[0].strip("_")
    head = f"\n- func: {schema}\n  family: pointwise\n{more}{shape}"
    return head + f"  dispatch: {{CPU: {name}, NPU: {name}}}\n  aclnn: {call}\n"


def function(root, ops, name):
    return definition(emit_project(root, ops), FILE, name)


def test_a_number_and_a_tensor_go_to_functions_of_their_own(tmp_path):
    files = emit_project(tmp_path, ADD)
    assert definition(files, FILE, "add") == expected('''
        def add(input, other, alpha, out=None):
            """add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
            add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
            """
            given = None
            try:
                result = _add_rule(input, other, alpha, out=out)
                if type(other) is not NpuArray:
                    result = placed(result, input)
                    _adds(input, other, alpha, result)
                else:
                    if type(input) is not NpuArray:
                        given = (input, other, alpha)
                        input, other = operands(input, other)
                    result = placed(result, input)
                    _add(input, other, alpha, result)
                return result if out is None else delivered(result, out)
            except UNANSWERED as error:
                return answered(error, given or (input, other, alpha), out, "add.Tensor", "add.Scalar")
        ''')
    assert definition(files, FILE, "_add") == '_add = aclnn("aclnnAdd", "TTST")\n'
    rule = 'remembered(rules.broadcast("default", operands=2), "add.Tensor")'
    assert definition(files, FILE, "_add_rule") == f"_add_rule = {rule}\n"
    assert definition(files, "generated/npu_kernels.py", "MODULES") == expected("""
        MODULES = {
            "mindtorch._generated.kernels.npu.pointwise": {
                "add.Tensor": "add",
                "add.Scalar": "add",
            },
        }
        """)
    assert not any("stubs/npu" in path for path in files)


# A schema, its call, and the lines of its kernel, without those of the docstring.
KERNELS = {
    "one tensor": (
        "neg(Tensor self) -> Tensor",
        "aclnnNeg(self, out)",
        ["result = placed(_neg_rule(input), input)", "_neg(input, result)", "return result"],
    ),
    "dimensions and a dtype": (
        "sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "aclnnReduceSum(self, dims(dim), keepdim, dtype, out)",
        [
            "result = placed(_sum_rule(input, dim, keepdim, dtype), input)",
            "_reduce_sum(input, dims_of(dim, input.ndim), keepdim, result.dtype, result)",
            "return result",
        ],
    ),
    "two results": (
        "largest(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        "aclnnMaxDim(self, dim, keepdim, values, indices)",
        [
            "values, indices = placed_all(_largest_rule(input, dim, keepdim), input)",
            "_max_dim(input, dim, keepdim, values, indices)",
            "return (values, indices)",
        ],
    ),
    "None, a word and a setting": (
        "odd(Tensor self, Tensor mat2, float? eps=None, *, str? word=None) -> Tensor",
        "aclnnGemm(self, mat2, None, or(eps, 0.5), 1.0, code(word, 0, a=1), 0, out, cubeMathType)",
        [
            "result = placed(_odd_rule(input, mat2, eps, word), input)",
            "_gemm(input, mat2, None, 0.5 if eps is None else eps, 1.0, _odd_word[word], 0, result,"
            " settings.cube_math_type)",
            "return result",
        ],
    ),
    "lists of a length": (
        "pool(Tensor self, int[3] kernel_size, int[3] stride, SymInt[] padding) -> Tensor",
        "aclnnAvgPool3d(self, kernel_size, or(stride, kernel_size), sizes(padding), False, True, 0, out)",
        [
            "result = placed(_pool_rule(input, kernel_size, stride, padding), input)",
            "_avg_pool3d(",
            "    input,",
            "    sized(kernel_size, 3),",
            "    sized(stride or sized(kernel_size, 3), 3),",
            "    sized(padding, input.ndim - 2),",
            "    False,",
            "    True,",
            "    0,",
            "    result,",
            ")",
            "return result",
        ],
    ),
    "a function that writes its argument": (
        "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
        "aclnnInplacePut(clone(self), index, source, accumulate)",
        [
            "result = placed(_put_rule(input, index, source, accumulate), input)",
            "copied(result, input)",
            "_inplace_put(result, index, source, accumulate)",
            "return result",
        ],
    ),
    "random numbers in place": (
        "uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
        "aclnnInplaceUniform(self, from, to, seed, offset)",
        [
            "seed, offset = seed_and_offset(generator, input)",
            "_inplace_uniform(input, from_, to, seed, offset)",
            "return input",
        ],
    ),
    "a list of tensors": (
        "stack(Tensor[] tensors, int dim=0) -> Tensor",
        "aclnnStack(tensors, dim, out)",
        ["result = placed(_stack_rule(tensors, dim), tensors[0])", "_stack(tensors, dim, result)", "return result"],
    ),
    "a tensor from nothing": (
        "range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,"
        " bool? pin_memory=None) -> Tensor",
        "aclnnArange(start, end, 1, out)",
        [
            "result = placed_on(_range_rule(start, end, dtype, layout, device, pin_memory), device)",
            "_arange(start, end, 1, result)",
            "return result",
        ],
    ),
}


def statements(body):
    """What a kernel does before it answers for what was refused."""
    (tried,) = ast.parse(textwrap.dedent(body)).body
    (answer,) = tried.handlers
    assert ast.unparse(answer.type) == "UNANSWERED" and ast.unparse(answer).count("return answered(error, ") == 1
    return [ast.unparse(each) for each in tried.body]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, tmp_path):
    schema, call, lines = KERNELS[name]
    ops = entry(schema, call, more="  factory: true\n" if "Device" in schema else "")
    text = function(tmp_path, ops, schema.partition("(")[0].strip("_"))
    body = text.partition('"""')[2].partition('"""\n')[2]
    assert statements(body) == [ast.unparse(each) for each in ast.parse("\n".join(lines)).body]


def test_a_word_has_a_constant(tmp_path):
    schema, call, _ = KERNELS["None, a word and a setting"]
    assert function(tmp_path, entry(schema, call), "_odd_word") == '_odd_word = Codes("word", {None: 0, "a": 1})\n'


SHIFTS = entry("shift(Tensor self, Tensor other) -> Tensor", "aclnnRightShift(self, other, out)") + entry(
    "shift.number(Tensor self, Scalar other) -> Tensor", "aclnnRightShift(self, tensor(other), out)"
)


def test_a_number_becomes_a_tensor_where_there_is_no_function_for_it(tmp_path):
    text = function(tmp_path, SHIFTS.replace("shape: like", "shape: broadcast"), "shift")
    assert (
        "        if not (type(input) is type(other) is NpuArray):\n"
        "            given = (input, other)\n            input, other = operands(input, other)\n" in text
    )
    assert text.endswith('return answered(error, given or (input, other), None, "shift", "shift.number")\n')
    assert text.count("_right_shift(") == 1 and "else:" not in text


NOT_GENERATED = {
    "a reason": entry("f(Tensor self) -> Tensor", "aclnnNeg(self, out); whatever"),
    "no shape rule": entry("f(Tensor self) -> Tensor", "aclnnNeg(self, out)", shape=""),
    "calls that nothing tells apart": entry("f(Tensor self) -> Tensor", "aclnnNeg(self, out)")
    + entry("f.on(Tensor self) -> Tensor", "aclnnAbs(self, out)"),
    "an op without a call": entry("f(Tensor self) -> Tensor", "aclnnNeg(self, out)")
    + entry("f.on(Tensor self, bool a) -> Tensor", "x").replace("  aclnn: x\n", ""),
}


@pytest.mark.parametrize("name", NOT_GENERATED)
def test_what_needs_more_than_a_call_is_to_be_written(name, tmp_path):
    files = emit_project(tmp_path, NOT_GENERATED[name])
    assert FILE not in files and "def f(" in files["generated/stubs/npu/pointwise.py"]


def test_a_kernel_that_is_written_takes_the_place_of_the_generated_one(tmp_path):
    files = emit_project(
        tmp_path, ADD, mindtorch__backends__npu__pointwise="def add(input, other, alpha, out=None): ...\n"
    )
    assert FILE not in files
    module = "generated/kernels/npu/by_hand/pointwise.py"
    assert '"mindtorch._generated.kernels.npu.by_hand.pointwise": {' in files["generated/npu_kernels.py"]
    assert definition(files, module, "add") == expected('''
        def add(input, other, alpha, out=None):
            """add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
            add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
            """
            try:
                return npu_kernels.add(input, other, alpha, out)
            except UNANSWERED as error:
                return answered(error, (input, other, alpha), out, "add.Tensor", "add.Scalar", is_one_call=False)
        ''')


def test_projects_without_an_npu_have_none_of_it(tmp_path):
    root = write_project(tmp_path, ADD.replace(", NPU: add", "").replace("  aclnn: ", "  divergence: "), "[]")
    (root / "pyproject.toml").write_text('[tool.mindtorch-codegen]\npackage = "fruit"\n')
    assert main(["stats"], root) == 0


WAYS = (
    ADD
    + entry("f(Tensor self) -> Tensor", "aclnnNeg(self, out); whatever")
    + entry("g(Tensor self) -> Tensor", "aclnnNeg(self, out)")
    + """
- func: h(Tensor self) -> Tensor
  family: pointwise
  composite: h

- func: i(Tensor self) -> Tensor
  family: pointwise
  dispatch: {CPU: i}

- func: j(Tensor(a) self) -> Tensor(a)
  family: pointwise
  shape: view
  view: single
  dispatch: {CPU: j, NPU: j}
"""
)
KERNEL = "def g(input): ...\n"


def test_how_each_op_runs(tmp_path, capsys):
    model = load_project(tmp_path, WAYS, "[]", mindtorch__backends__npu__pointwise=KERNEL)
    assert ways(model) == {
        "add.Tensor": "generated",
        "add.Scalar": "generated",
        "f": "to be written",
        "g": "by hand",
        "h": "composite",
        "i": "CPU fallback",
        "j": "view",
    }
    assert main(["stats"], tmp_path) == 0
    assert capsys.readouterr().out.endswith(
        "NPU: 4 of 5 kernels\n"
        "  generated (2): add.Tensor, add.Scalar\n"
        "  by hand (1): g\n"
        "  view (1): j\n"
        "  composite (1): h\n"
        "  to be written (1): f\n"
        "  CPU fallback (1): i\n"
    )


@pytest.mark.parametrize(
    ("written", "noted"),
    [
        (KERNEL, []),
        (
            KERNEL + "def ff(input): ...\n",
            ["note: f has no NPU kernel 'f' in mindtorch/backends/npu/pointwise.py (did you mean 'ff'?); wrote a stub"],
        ),
    ],
)
def test_only_a_misspelt_kernel_is_noted(tmp_path, written, noted):
    """The others are computed in another way until they are written."""
    model = load_project(tmp_path, WAYS, "[]", mindtorch__backends__npu__pointwise=written)
    assert list(notes(model)) == noted


def test_the_reference_says_which_kernel_is_generated(tmp_path):
    text = emit_project(tmp_path, WAYS)["docs/ops/pointwise.md"]
    assert "NPU `add` (generated), Meta by its shape; ACLNN `aclnnAdds(self, other, alpha, out)`" in text
    assert "NPU `f` (missing), Meta by its shape; ACLNN" in text
