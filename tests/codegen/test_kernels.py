"""The hand-written sources are read with ast: which functions there are, and whether their signatures fit."""

import pytest

from codegen.errors import Problems
from codegen.project import Project
from codegen.sources.hand_written import read_hand_written
from codegen.statistics import notes
from tests.codegen.project import clean, diagnostics, load_project, write_project

ADD = """
- func: add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  family: pointwise
  autogen: out
  promotion: default
  shape: broadcast
  samples: binary
  dispatch: {CPU: add}
"""
ADD_COMPOSITE = "- func: add(Tensor self, Tensor other) -> Tensor\n  family: pointwise\n  composite: add\n"


def functions(root, **files):
    """The kernels that are found in cpu/pointwise.py."""
    problems = Problems()
    found = read_hand_written(Project(write_project(root, **files)), problems)
    assert not problems
    return found.kernels["CPU", "pointwise"]


@pytest.mark.parametrize(
    ("source", "parameters"),
    [
        ("def add(input, other, alpha, out=None): ...", ("input", "other", "alpha", "out")),
        ("def add(input, /, other, *, alpha=1, out=None): ...", ("input", "other", "alpha", "out")),
        ("def add(*arrays, **options): ...", ("*arrays", "**options")),
        ("add = lambda input, out=None: input", ("input", "out")),
        ("def plus(input): ...\nadd = plus", ("input",)),
        ("def unary(f):\n    def kernel(x, out=None): ...\n    return kernel\nadd = unary(abs)", ("x", "out")),
        ("def unary(f):\n    def kernel(x): ...\n    return kernel\n"
         "def quiet(f):\n    return unary(f)\nadd = quiet(abs)", ("x",)),
        ("def unary(f):\n    def kernel(x): ...\n    return kernel\n"
         "def by(f, factory=unary):\n    return factory(f)\nadd = by(abs)", ("x",)),
        ("def unary(f):\n    def kernel(x): ...\n    return kernel\n"
         "def by(f, factory):\n    return factory(f)\nadd = by(abs, factory=unary)", ("x",)),
        ("from functools import partial\nadd = partial(max, 1)", None),
        ("from numpy import add", None),
        ("add = add2 = 3", None),
        ("def loop(f):\n    return loop(f)\nadd = loop(abs)", None),
    ],
)  # fmt: skip
def test_parameters(tmp_path, source, parameters):
    found = functions(tmp_path, mindtorch__backends__cpu__pointwise=source)
    assert found["add"].parameters == parameters


@pytest.mark.parametrize("line", ["from mindtorch.backends.cpu.made import unary", "from .made import unary"])
def test_factory_of_another_module(tmp_path, line):
    found = functions(
        tmp_path,
        mindtorch__backends__cpu__made="def unary(f):\n    def kernel(x, out=None): ...\n    return kernel\n",
        mindtorch__backends__cpu__pointwise=f"{line}\nadd = unary(abs)\n",
    )
    assert (found["add"].parameters, found["add"].made) == (("x", "out"), True)


def test_kernel_of_another_module(tmp_path):
    found = functions(
        tmp_path,
        mindtorch__backends__cpu__made="def plus(input, other): ...\n",
        mindtorch__backends__cpu__pointwise="from .made import plus as add\n\n_private = 1\n",
    )
    assert found.keys() == {"add"}
    assert (found["add"].parameters, found["add"].location.line) == (("input", "other"), 1)


def test_a_kernel_that_is_imported_is_reported_where_it_is_written(tmp_path):
    source = "from .made import plus as add\n"
    write_project(
        tmp_path,
        ADD,
        "[]",
        mindtorch__backends__cpu__pointwise=source,
        mindtorch__backends__cpu__made="\n\ndef plus(input, y, alpha, out=None): ...\n",
    )
    (found,) = diagnostics(tmp_path)
    place = "mindtorch/backends/cpu/made.py"
    assert (found.code, found.location.file) == ("E038", place)
    assert found.source_line.startswith("def plus(")


def check_kernel(root, source, ops=ADD):
    write_project(root, ops, "[]", mindtorch__backends__cpu__pointwise=source)
    return diagnostics(root)


@pytest.mark.parametrize(
    "source",
    [
        "def add(input, other, alpha, out=None): ...",
        "def add(input, other, *, alpha=1, out=None): ...",
        "def add(input, *rest): ...",
        "def three(f):\n    def kernel(x, y, z, out=None): ...\n    return kernel\nadd = three(max)",
        "def another(): ...",
    ],
)
def test_kernels_that_fit(tmp_path, source):
    assert check_kernel(tmp_path, source) == ()


@pytest.mark.parametrize(
    ("source", "takes"),
    [
        ("def add(input, other, out=None): ...", "input, other, out"),
        ("def add(input, other, alpha): ...", "input, other, alpha"),
        ("def add(self, other, alpha, out=None): ...", "self, other, alpha, out"),
        ("def three(f):\n    def kernel(x, y, z): ...\n    return kernel\n\n\nadd = three(max)", "x, y, z"),
    ],
)
def test_kernels_that_do_not_fit(tmp_path, source, takes):
    (found,) = check_kernel(tmp_path, source)
    message = f"the function 'add' takes ({takes}) but the op add passes (input, other, alpha, out)"
    hint = "write def add(input, other, alpha, out=None)"
    if "three" in source:
        hint = f"the inner 'def kernel' of its factory takes 3 arguments and 'out'; or {hint}"
    assert (found.code, found.message, found.hint) == ("E038", message, hint)
    assert found.location.file == "mindtorch/backends/cpu/pointwise.py"
    assert found.location.line == clean(source).count("\n") + 1 if "three" in source else 1


def test_kernel_made_by_a_misspelt_factory(tmp_path):
    source = """
    def _made(function):
        def kernel(input, other, alpha=1, out=None):
            return function(input, other)

        return kernel


    add = _mdae(sum)
    """
    (found,) = check_kernel(tmp_path, source)
    assert (found.code, found.hint) == ("E036", "did you mean '_made'?")
    assert found.message == "'add' is made by an unknown function '_mdae'"


def test_kernel_whose_signature_cannot_be_seen(tmp_path):
    (found,) = check_kernel(tmp_path, "from numpy import add\n")
    assert (found.code, found.message) == ("E038", "the signature of 'add' cannot be read")
    assert str(found.location) == "mindtorch/backends/cpu/pointwise.py:1:1"
    assert found.hint == (
        "write it with def, or have it made by a factory whose inner function is called 'kernel'; "
        "both may be imported from a file of the package"
    )


def test_view_kernel_needs_no_out(tmp_path):
    ops = """
    - func: t(Tensor(a) self) -> Tensor(a)
      family: pointwise
      inplace: t_(Tensor(a!) self) -> Tensor(a!)
      view: single
      dispatch: {CPU: t}
    """
    assert check_kernel(tmp_path, "def t(input): ...", ops) == ()


def test_composite_function(tmp_path):
    write_project(tmp_path, ADD_COMPOSITE, "[]", mindtorch__composite__pointwise="def add(input): ...\n")
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == (
        "mindtorch/composite/pointwise.py:1:1: error[E038] the function 'add' takes (input) but the op add passes "
        "(input, other)"
    )
    assert found.hint == "write def add(input, other)"


def test_model_knows_kernels_and_composites(tmp_path):
    model = load_project(
        tmp_path,
        ADD,
        "[]",
        mindtorch__backends__npu__pointwise="def mul(): ...\n",
        mindtorch__composite__nn="def linear(): ...\n",
    )
    assert list(model.kernels) == [("NPU", "pointwise")]
    assert list(model.composites["nn"]) == ["linear"]


def test_unknown_composite_function(tmp_path):
    write_project(tmp_path, ADD_COMPOSITE, "[]", mindtorch__composite__pointwise="def ad(input, other): ...\n")
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == "ops.yaml:3:14: error[E036] unknown composite function 'add'"
    assert found.hint == "did you mean 'ad'? otherwise define it in mindtorch/composite/pointwise.py"


def test_unknown_meta_kernel(tmp_path):
    ops = ADD.replace("CPU: add", "CPU: add, Meta: add")
    write_project(tmp_path, ops, "[]", mindtorch__backends__meta__pointwise="def mul(): ...\n")
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == "ops.yaml:7:30: error[E036] unknown Meta kernel 'add'"
    assert found.hint == "define it in mindtorch/backends/meta/pointwise.py"


def test_forgotten_samples(tmp_path):
    ops = ADD.replace("  samples: binary\n", "")
    samples = {"tests__samples": "def binary(): ...\n"}
    write_project(tmp_path, ops, "[]", **samples)
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == "ops.yaml:1:3: error[E013] add has no 'samples'"
    assert found.hint == "name a generator of tests/samples.py, or write 'samples: none' if other tests cover it"
    model = load_project(tmp_path, ADD.replace("samples: binary", "samples: none"), "[]", **samples)
    assert model.ops["add"].samples is None


SHAPE_RULES = "def broadcast(promotion: str): ...\ndef same(promotion: str | None): ...\n"


def test_forgotten_shape(tmp_path):
    """Without a rule there is no meta kernel: that is said, and not found out."""
    ops = ADD.replace("  shape: broadcast\n", "")
    write_project(tmp_path, ops, "[]", mindtorch__backends__meta__rules=SHAPE_RULES)
    (found,) = diagnostics(tmp_path)
    message = "add has no 'shape': tensors without data cannot be given to it"
    assert str(found).splitlines()[0] == f"ops.yaml:6:3: error[E048] {message}"
    assert found.hint == (
        "add 'shape' and 'promotion' (docs/rules.md), or name a meta kernel: dispatch: {Meta: ...}; "
        "'shape: none' says that only the kernel knows"
    )


@pytest.mark.parametrize(
    ("shape", "dispatch"),
    [("  shape: none\n", "{CPU: add}"), ("", "{CPU: add, Meta: add}"), ("", "{NPU: add}")],
)
def test_no_shape_is_needed(tmp_path, shape, dispatch):
    kernel = "def add(*arguments): ...\n"
    files = {"mindtorch__backends__meta__rules": SHAPE_RULES, "mindtorch__backends__meta__pointwise": kernel}
    ops = ADD.replace("  shape: broadcast\n", shape).replace("{CPU: add}", dispatch)
    assert load_project(tmp_path, ops, "[]", **files).ops["add"].shape is None


def test_what_returns_no_tensor_needs_no_shape(tmp_path):
    ops = "- func: is_set(Tensor self) -> bool\n  family: pointwise\n  dispatch: {CPU: is_set}\n"
    load_project(tmp_path, ops, "[]", mindtorch__backends__meta__rules=SHAPE_RULES)


@pytest.mark.parametrize("key", ["shap", "shpe", "Shape"])
def test_a_misspelt_shape_is_not_missing(tmp_path, key):
    write_project(tmp_path, ADD.replace("  shape:", f"  {key}:"), "[]", mindtorch__backends__meta__rules=SHAPE_RULES)
    assert [(each.code, each.hint) for each in diagnostics(tmp_path)] == [("E012", "did you mean 'shape'?")]


def test_forgotten_promotion(tmp_path):
    ops = ADD.replace("  promotion: default\n", "")
    rules = "def broadcast(promotion: str): ...\ndef same(promotion: str | None): ...\n"
    write_project(tmp_path, ops, "[]", mindtorch__backends__meta__rules=rules)
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == "ops.yaml:4:10: error[E040] the shape rule 'broadcast' needs a 'promotion'"
    load_project(tmp_path, ops.replace("broadcast", "same"), "[]", mindtorch__backends__meta__rules=rules)


@pytest.mark.parametrize(("name", "hint"), [("ad", " (did you mean 'add'?)"), ("xyz", "")])
def test_a_kernel_that_is_missing_is_noted(tmp_path, name, hint):
    ops = ADD.replace("CPU: add", f"CPU: {name}, NPU: add")
    kernel = "def add(input, other, alpha, out=None): ...\n"
    model = load_project(tmp_path, ops, "[]", mindtorch__backends__cpu__pointwise=kernel)
    file = "mindtorch/backends/cpu/pointwise.py"
    assert list(notes(model)) == [f"note: add has no CPU kernel '{name}' in {file}{hint}; wrote a stub"]


RULES = {
    "mindtorch__backends__meta__rules": "def broadcst(): ...\n",
    "mindtorch___core__promotion": "RULES: dict = {'defaults': 1, 'first': 2}\n",
    "tests__samples": "def binry(): ...\n",
}


@pytest.mark.parametrize(
    ("file", "error", "hint"),
    [
        ("mindtorch__backends__meta__rules", "ops.yaml:5:10: error[E036] unknown shape rule 'broadcast'", "broadcst"),
        ("mindtorch___core__promotion", "ops.yaml:4:14: error[E036] unknown promotion rule 'default'", "defaults"),
        ("tests__samples", "ops.yaml:6:12: error[E036] unknown generator of samples 'binary'", "binry"),
    ],
)
def test_unknown_rule(tmp_path, file, error, hint):
    write_project(tmp_path, ADD, "[]", **{file: RULES[file]})
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == error
    assert found.hint == f"did you mean '{hint}'? otherwise define it in {file.replace('__', '/')}.py"
