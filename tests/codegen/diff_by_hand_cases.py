"""Changes of what is written by hand: functions and classes, code that ops pass through, tests and pages."""

from tests.codegen.diff_project import DiffCase

_NN = "mindtorch/nn/functional.py"
_PROMOTION = "def float_of(*operands):\n    return {}\n\n\nRULES = {{'default': float_of}}\n"
_TEST = "{}def test_exp():\n    assert 1\n\n\ndef test_sin():\n    assert 2\n"


def function(code, message, before, after, caller="", **others):
    """A changed signature of `torch.nn.functional.pad`."""
    texts = (f"def pad({each}): ...\n" for each in (before, after))
    return DiffCase(code, "torch.nn.functional.pad", message, caller, source=(_NN, *texts), **others)


def code(rule, module, message, file, text, note=""):
    return DiffCase(rule, module, message, source=(file, text.format(1), text.format(2)), note=note)


BY_HAND_CASES = (
    DiffCase(
        "F001",
        "torch.nn.functional.pad",
        "the function is gone",
        "`torch.nn.functional.pad` stops working",
        source=(_NN, "def pad(x): ...\n\n\ndef fold(x): ...\n", "def fold(x): ...\n"),
    ),
    DiffCase(
        "F001",
        "torch.nn.functional.pad",
        "the name is no longer exported by `mindtorch.nn.functional`",
        "`torch.nn.functional.pad` stops working",
        source=(_NN, "from mindtorch.nn.pads import pad as pad\n", "from mindtorch.nn.pads import fold as fold\n"),
        note="of an import",
    ),
    DiffCase(
        "F001",
        "torch.nn.layers.Pad.extra_repr",
        "the method is gone",
        "`torch.nn.layers.Pad.extra_repr` stops working",
        source=(
            "mindtorch/nn/layers.py",
            "class Pad:\n    def extra_repr(self): ...\n\n    def forward(self): ...\n",
            "class Pad:\n    def forward(self): ...\n",
        ),
        note="of a method",
    ),
    DiffCase(
        "F002",
        "torch.nn.functional.fold",
        "the function is added",
        source=(_NN, "def pad(x): ...\n", "def pad(x): ...\n\n\ndef fold(x): ...\n"),
    ),
    function(
        "F003",
        "argument `input` is now called `x`",
        "input, size",
        "x, size",
        "`torch.nn.functional.pad(input=...)` stops working",
    ),
    DiffCase(
        "F003",
        "torch.nn.layers.Pad",
        "argument `size` is now called `width`",
        "`torch.nn.layers.Pad(size=...)` stops working",
        source=(
            "mindtorch/nn/layers.py",
            "class Pad:\n    def __init__(self, size): ...\n",
            "class Pad:\n    def __init__(self, width): ...\n",
        ),
        note="of a class",
    ),
    function(
        "F004",
        "argument `size` is removed",
        "input, size",
        "input",
        "`torch.nn.functional.pad(size=...)` stops working",
    ),
    function(
        "F005",
        "the order of arguments is size, input; it was input, size",
        "input, size",
        "size, input",
        "`torch.nn.functional.pad(input, size)` gives its values to other arguments",
    ),
    function(
        "F006",
        "there is a new required argument `mode`",
        "input, size=1",
        "input, mode, size=1",
        "`torch.nn.functional.pad(input)` stops working: `mode` is missing",
    ),
    function(
        "F007",
        "argument `mode` is inserted in front of others",
        "input, size=1",
        "input, mode=0, size=1",
        "what is passed by position after `mode` goes to another argument",
    ),
    function("F008", "argument `mode` is added, with a default", "input", "input, mode=0"),
    function("F008", "`**kwargs` is added", "input", "input, **others", note="of any name"),
    function(
        "F009",
        "the default of `size` is `2`, it was `1`",
        "input, size=1",
        "input, size=2",
        "calls of `torch.nn.functional.pad` without `size` now mean `size=2`",
    ),
    function(
        "F010",
        "argument `size` has no default any more",
        "input, size=1",
        "input, size",
        "calls of `torch.nn.functional.pad` without `size` stop working",
    ),
    function("F011", "argument `size` has the default `1`", "input, size", "input, size=1"),
    function(
        "F012",
        "argument `size` is now keyword-only",
        "input, size",
        "input, *, size",
        "`torch.nn.functional.pad` no longer takes `size` by position",
    ),
    function("F013", "argument `size` may be passed by position", "input, *, size=1", "input, size=1"),
    function(
        "F014",
        "`**kwargs` is gone",
        "input, **others",
        "input",
        "calls of `torch.nn.functional.pad` with others stop working",
    ),
    function("F015", "argument `input` is now called `x`", "input, /", "x, /"),
    DiffCase(
        "F016",
        "torch.nn.functional.pad",
        "it is a value, it was a function",
        "calls and uses of `torch.nn.functional.pad` may stop working",
        source=(_NN, "def pad(x): ...\n", "pad = 3\n"),
        reported=("torch.nn.functional.pad F016", "mindtorch.nn.functional C001"),
    ),
    DiffCase(
        "F020",
        "mindtorch/nn/bags.py",
        "the file is not Python",
        "`import mindtorch.nn.bags` raises an error",
        source=("mindtorch/nn/bags.py", "def bag(x): ...\n", "def bag(x: ...\n"),
    ),
    code(
        "C001",
        "mindtorch.nn.functional",
        "the code of 1 definition has changed: `_width`; users reach it as `torch.nn.functional.pad`",
        _NN,
        "def pad(x):\n    return _width(x)\n\n\ndef _width(x):\n    return {}\n",
    ),
    code(
        "C002",
        "mindtorch._core.promotion",
        "the code of 1 definition of promotion has changed: `float_of`; 1 op reaches it: `mul.Tensor`",
        "mindtorch/_core/promotion.py",
        _PROMOTION,
    ),
    DiffCase(
        "C003",
        "mindtorch.dispatch.modes.autocast",
        "the code of 1 definition of autocast has changed: `cast`; 1 op reaches it: `exp`",
        old_edits=(("  dispatch: {CPU: exp}", "  dispatch: {CPU: exp}\n  autocast: fp32"),),
        edits=(("  dispatch: {CPU: exp}", "  dispatch: {CPU: exp}\n  autocast: fp32"),),
        source=("mindtorch/dispatch/modes/autocast.py", "def cast(): ...\n", "def cast():\n    raise RuntimeError\n"),
    ),
    code(
        "C004",
        "mindtorch.backends.batched.dims",
        "the code of 1 definition of vmap rules has changed: `moved`; 1 op reaches it: `mul.Tensor`",
        "mindtorch/backends/batched/dims.py",
        "def moved():\n    return {}\n",
    ),
    code(
        "C005",
        "mindtorch.autograd._engine.engine",
        "the code of 1 definition of the autograd engine has changed: `run`; "
        "5 ops reach it: `mul.Tensor`, `max.dim`, `cat`, `select.int`, `exp`",
        "mindtorch/autograd/_engine/engine.py",
        "def run():\n    return {}\n",
    ),
    code(
        "C006",
        "mindtorch._core.strided",
        "the code of 1 definition of the core has changed: `steps`; every op runs it (12)",
        "mindtorch/_core/strided.py",
        "def steps():\n    return {}\n",
    ),
    code(
        "C007",
        "codegen",
        "the generator has changed (`emit/ops.py`), which writes the code of every op; "
        "the generated files are the same, so far: they may not be up to date",
        "codegen/emit/ops.py",
        "def emit():\n    return {}\n",
    ),
    DiffCase(
        "Q001",
        "exp",
        "its tests are switched off: `samples` is `none`, it was `unary`",
        old_edits=(("  dispatch: {CPU: exp}", "  dispatch: {CPU: exp}\n  samples: unary"),),
        edits=(("  dispatch: {CPU: exp}", "  dispatch: {CPU: exp}\n  samples: none"),),
    ),
    DiffCase(
        "Q002",
        "tests/unit/test_exp.py",
        "1 test is gone: `test_exp`",
        source=("tests/unit/test_exp.py", _TEST.format(""), "def test_sin():\n    assert 2\n"),
    ),
    DiffCase(
        "Q003",
        "tests/unit/test_exp.py",
        "1 test is skipped or expected to fail: `test_exp`",
        source=("tests/unit/test_exp.py", _TEST.format(""), _TEST.format("@pytest.mark.skip\n")),
    ),
    DiffCase(
        "Q004",
        "torch.nn.functional.pad",
        "the docstring is gone",
        source=(_NN, 'def pad(x):\n    """Wider."""\n    return x\n', "def pad(x):\n    return x\n"),
    ),
    DiffCase(
        "Q005",
        "exp",
        "its samples are made by `binary`, they were by `unary`",
        old_edits=(("  dispatch: {CPU: exp}", "  dispatch: {CPU: exp}\n  samples: unary"),),
        edits=(("  dispatch: {CPU: exp}", "  dispatch: {CPU: exp}\n  samples: binary"),),
    ),
)
