"""Which changes of hand-written code the schema diff sees, and for which ops."""

import pytest

from codegen.diff.compare import compare
from codegen.diff.state import state_of
from tests.codegen.diff_project import POINTWISE, TODAY
from tests.codegen.project import clean, load_project

OPS = """
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  family: pointwise
  autogen: inplace, out
  dispatch: {CPU: mul, NPU: mul}

- func: exp(Tensor self) -> Tensor
  family: pointwise
  dispatch: {CPU: exp}
"""
DERIVATIVES = """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: multiply(grad, other)
  other: multiply(grad, self)
"""
KERNELS = '''
from mindtorch.backends.cpu.loops import loop, pair as pairs
from mindtorch.elsewhere import far

FACTOR = 2


class Table:
    """What is known."""

    size = 1


def mul(input, other, out=None):
    """The product."""
    return loop(input, FACTOR)


def exp(input):
    return _power(input) + far(input)  # e


def _power(input: object) -> object:
    return Table.size
'''
LOOPS = """
def loop(input, factor): return factor


def pair(input): return input
"""
MUL = "mul.Tensor: the CPU kernel `mul` has changed"


def judged(tmp_path, kernels, loops=LOOPS, ops=OPS, old_kernels=KERNELS):
    """What is said of two states with this code, a line for each finding."""
    files = "mindtorch__backends__cpu__pointwise", "mindtorch__backends__cpu__loops", "mindtorch__elsewhere"
    far = "def far(input): return input\n"
    old = load_project(tmp_path / "old", OPS, DERIVATIVES, **dict(zip(files, (old_kernels, LOOPS, far))))
    new = load_project(tmp_path / "new", ops, DERIVATIVES, **dict(zip(files, (kernels, loops, far + "# it\n"))))
    report = compare(state_of("old", old), state_of("new", new), TODAY)
    return [f"{change.op}: {finding.message}" for change in report.changes for finding in change.findings]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("    return loop(input, FACTOR)", "    return  loop(\n        input, FACTOR)  # quick", []),
        ('"""The product."""', '"""Their product, element by element."""', []),
        ('    """The product."""\n', "", []),
        ('    """What is known."""\n', "", []),
        ("input: object) -> object:", "input):", []),
        ("import loop, pair as pairs", "import loop", []),
        ("FACTOR)", "-FACTOR)", [MUL]),
        ("FACTOR = 2", "FACTOR = 3", ["mul.Tensor: `FACTOR` has changed, which the CPU kernel uses"]),
        ("size = 1", "size = 2", ["exp: `Table` has changed, which the CPU kernel uses"]),
        ("return Table.size", "return 1", ["exp: `_power` has changed, which the CPU kernel uses"]),
        ("def exp(input):", "@quick\ndef exp(input):", ["exp: the CPU kernel `exp` has changed"]),
        ("# e", "", []),
        ("import far", "import near as far", []),
        ("def exp(input):", "UNUSED = 1\n\n\ndef exp(input):", []),
    ],
)
def test_what_is_a_change(before, after, expected, tmp_path):
    assert before in KERNELS
    assert judged(tmp_path, KERNELS.replace(before, after)) == expected


def test_what_is_imported_from_the_same_folder_counts(tmp_path):
    loops = LOOPS.replace("return factor", "return -factor").replace("return input", "return -input")
    assert judged(tmp_path, KERNELS, loops) == ["mul.Tensor: `loop` has changed, which the CPU kernel uses"]


def test_a_kernel_that_is_imported_is_the_kernel(tmp_path):
    kernels = KERNELS.replace("loop, pair as pairs", "exp, loop").replace("def exp(", "def other(")
    assert judged(tmp_path, kernels, f"{LOOPS}\n\ndef exp(input): return 1\n") == [
        "exp: the CPU kernel `exp` has changed"
    ]


def test_a_function_may_move_to_another_file(tmp_path):
    start = KERNELS.index("def _power")
    moved = KERNELS[:start].replace("import loop,", "import _power, loop,") + "power = _power\n"
    assert judged(tmp_path, moved, f"{LOOPS}\n\n{clean(KERNELS[start:])}\n\nclass Table: ...\n") == []


def test_what_several_ops_run_is_reported_once(tmp_path):
    kernels = KERNELS.replace("return _power(input)", "return loop(input, 1)")
    loops = LOOPS.replace("return factor", "return -factor")
    said = "loop(): `loop` has changed, which CPU kernels of 2 ops use: `mul.Tensor`, `exp`"
    assert judged(tmp_path, kernels, loops, old_kernels=kernels) == [said]


def test_a_kernel_with_other_arguments_has_to_change(tmp_path):
    kernels = KERNELS.replace("def exp(input):", "def exp(input, base):")
    ops = OPS.replace("exp(Tensor self)", "exp(Tensor self, float base=1)")
    assert judged(tmp_path, kernels, ops=ops) == ["exp: argument `base` is appended"]


def test_many_ops_are_counted(tmp_path):
    ops = "".join(
        f"\n- func: exp{i}(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {{CPU: exp}}\n" for i in range(9)
    )
    changed = POINTWISE.replace("exp(input): ...", "exp(input): return input")
    states = [
        load_project(tmp_path / name, ops, "[]", mindtorch__backends__cpu__pointwise=code)
        for name, code in (("old", POINTWISE), ("new", changed))
    ]
    (change,) = compare(state_of("old", states[0]), state_of("new", states[1]), TODAY).changes
    assert change.findings[0].message.endswith("9 ops use: `exp0`, `exp1`, `exp2`, `exp3`, `exp4`, `exp5` and 3 more")
    assert str(change.findings[0].location) == "mindtorch/backends/cpu/pointwise.py:4:1"
