# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""What the generator writes for deprecated calls and old versions."""

import pytest

from tests.codegen.emitted import definition, emit_project, expected

HEAD = """
- func: sum_to(Tensor self, int[] size, *, bool strict=False) -> Tensor
  family: view
  variants: function, method
  composite: sum_to
"""
RENAMED_ARGUMENT = """
    - func: sum_to(Tensor self, int[] shape) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: sum_to(self, shape)
"""
RENAMED_OP = """
    - func: reduce_to(Tensor self, int[] shape=[]) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: sum_to(self, shape, strict=True)
"""


def emitted(root, ops, *composites):
    sources = "\n".join(f"def {text}:\n    return input\n" for text in composites)
    return emit_project(root, ops, mindtorch__composite__view=sources)


def sum_to(root, *old):
    return emitted(root, HEAD + "  deprecated:" + "".join(old).rstrip() + "\n", "sum_to(input, size, *, strict)")


def test_an_op_without_a_past_takes_nothing_more(tmp_path):
    files = emitted(tmp_path, HEAD, "sum_to(input, size, *, strict)")
    assert "def sum_to(input=..., size=..., *more_size, strict=False):" in files["generated/ops/view.py"]
    assert "OLD_CALLS" not in files["generated/registry/view.py"]
    assert "register_old_calls" not in files["generated/registry/view.py"]


def test_a_renamed_argument(tmp_path):
    files = sum_to(tmp_path, RENAMED_ARGUMENT)
    function = definition(files, "generated/ops/view.py", "sum_to")
    assert function.splitlines()[:5] == expected('''
        def sum_to(input=..., size=..., *more_size, strict=False, shape=...):
            """sum_to(Tensor self, int[] size, *, bool strict=False) -> Tensor"""
            if shape is not ... or size is ...:
                return old_call(sum_to, (sum_to,), (input, size, *more_size), {"strict": strict, "shape": shape})
            if state.active_modes and intercepts(sum_to, input):
        ''').splitlines()
    assert "call(sum_to, input, *joined_ints(size, more_size, IS_METHOD), strict=strict)" in function
    assert definition(files, "generated/registry/view.py", "OLD_CALLS") == expected("""
        OLD_CALLS = (
            (
                functions.sum_to,
                (
                    OldCall(
                        "sum_to(Tensor self, int[] shape) -> Tensor",
                        lambda call, input, shape: call(input, shape),
                        functions.sum_to,
                        "0.2.0",
                        "0.4.0",
                        "torch.sum_to(x, shape=...)",
                        "torch.sum_to(x, size=...)",
                    ),
                ),
            ),
        )
        """)
    assert "register_old_calls(OLD_CALLS)" in files["generated/registry/view.py"]


def test_a_renamed_op(tmp_path):
    files = sum_to(tmp_path, RENAMED_OP)
    assert definition(files, "generated/ops/view.py", "reduce_to") == expected('''
        def reduce_to(*args, **kwargs):
            """reduce_to(Tensor self, int[] shape=[]) -> Tensor"""
            return old_call(reduce_to, (), args, kwargs)
        ''')
    assert "def sum_to(input=..., size=..., *more_size, strict=False):" in files["generated/ops/view.py"]
    assert "    reduce_to = as_method(view_ops.reduce_to)" in files["generated/methods/view.py"]
    assert '"reduce_to",' in files["generated/functions.py"]
    row = definition(files, "generated/registry/view.py", "OLD_CALLS")
    assert "lambda call, input, shape=(): call(input, shape, strict=True)" in row
    assert '"torch.reduce_to(x, shape=...)"' in row
    assert '"torch.sum_to(x, size=..., strict=True)"' in row


ADD = """
- func: plus.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  family: view
  variants: function, method
  autogen: inplace, out
  composite: plus
  deprecated:
    - func: plus(Scalar alpha, Tensor self, Tensor other) -> Tensor
      since: torch
      replacement: plus(self, other, alpha=alpha)
"""


def test_more_positional_arguments(tmp_path):
    files = emitted(tmp_path, ADD, "plus(input, other, *, alpha)")
    source = files["generated/ops/view.py"]
    assert "def plus(input=..., other=..., *more, alpha=1, out=None):" in source
    assert (
        '    if more:\n        return old_call(plus, (plus,), (input, other, *more), {"alpha": alpha, "out": out})'
        in source
    )
    assert "def plus_(input=..., other=..., *more, alpha=1):" in source
    assert "plus_out = out_form(plus)\n" in source
    assert "return call(plus, input, other, alpha=alpha, out=out)" in source
    assert definition(files, "generated/registry/view.py", "OLD_CALLS").count("as_method=") == 2
    assert '"plus_(Tensor(a!) self, Scalar alpha, Tensor other) -> Tensor(a!)"' in files["generated/registry/view.py"]


def test_type_checkers_mark_old_calls(tmp_path):
    files = sum_to(tmp_path, RENAMED_ARGUMENT, RENAMED_OP)
    advice = '@deprecated("deprecated since 0.2.0, removed in 0.4.0: use torch.sum_to(x, size=...)")'
    stub = files["mindtorch/_generated/functions.pyi"]
    assert f"@overload\n{advice}\ndef sum_to(input: Tensor, shape: Sequence[int]) -> Tensor: ..." in stub
    advice = '@deprecated("deprecated since 0.2.0, removed in 0.4.0: use torch.sum_to(x, size=..., strict=True)")'
    assert f"\n{advice}\ndef reduce_to(input: Tensor, shape: Sequence[int] = ()) -> Tensor: ..." in stub
    assert (
        "    def reduce_to(self, shape: Sequence[int] = ()) -> Tensor: ..."
        in files["mindtorch/_generated/tensor_methods.pyi"]
    )


def test_the_reference_lists_old_calls(tmp_path):
    page = sum_to(tmp_path, RENAMED_ARGUMENT)["docs/ops/view.md"]
    fact = "`torch.sum_to(x, shape=...)`, deprecated since 0.2.0, removed in 0.4.0: use `torch.sum_to(x, size=...)`"
    assert f"- deprecated calls: {fact}\n" in page


SHOWN = {
    "names stay": (
        "f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "f(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        "f(self, other, alpha=alpha)",
        ("torch.f(x, alpha, other)", "torch.f(x, other, alpha=alpha)"),
    ),
    "what has a default is left out": (
        "f(Tensor self, int a, *, bool b=False) -> Tensor",
        "f(Tensor self, int c, bool b=False) -> Tensor",
        "f(self, c, b=b)",
        ("torch.f(x, c=...)", "torch.f(x, a=...)"),
    ),
    "a value of its own": (
        "f(Tensor self, int a) -> Tensor",
        "f(Tensor self) -> Tensor",
        "f(self, self.ndim + 1)",
        ("torch.f(x)", "torch.f(x, x.ndim + 1)"),
    ),
    "more than one call": (
        "f(Tensor self) -> Tensor",
        "f(Tensor self, bool twice) -> Tensor",
        "f(f(self)) if twice else f(self)",
        ("torch.f(x, twice)", "torch.f(torch.f(x)) if twice else torch.f(x)"),
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_warning_shows(tmp_path, name):
    new, old, replacement, shown = SHOWN[name]
    ops = f"- func: {new}\n  family: view\n  composite: f\n  deprecated:\n"
    ops += f"    - {{func: '{old}', since: 0.2.0, removal: 0.3.0, replacement: '{replacement}'}}\n"
    row = definition(emitted(tmp_path, ops, "f(*args, **kwargs)"), "generated/registry/view.py", "OLD_CALLS")
    assert all(f'"{text}"' in row for text in shown)


VERSIONS = """
- func: shift(Tensor self, int by, *, bool wrap=False) -> Tensor
  family: view
  autogen: inplace
  composite: shift
  versions:
    - version: 1
      func: move(Tensor self) -> Tensor
      upgrade: shift(self, 1)
    - version: 2
      func: shift(Tensor self, int by, bool around=True) -> Tensor
      upgrade: shift(self, by, wrap=around)
"""


def test_versions(tmp_path):
    files = emitted(tmp_path, VERSIONS, "shift(input, by, *, wrap)")
    assert definition(files, "generated/registry/view.py", "VERSIONS") == expected("""
        VERSIONS = {
            "shift": (
                3,
                {
                    1: OldForm("move(Tensor self) -> Tensor", lambda call, input: call(input, 1)),
                    2: OldForm(
                        "shift(Tensor self, int by, bool around=True) -> Tensor",
                        lambda call, input, by, around=True: call(input, by, wrap=around),
                    ),
                },
            ),
            "shift_": (
                3,
                {
                    1: OldForm("move_(Tensor(a!) self) -> Tensor(a!)", lambda call, input: call(input, 1)),
                    2: OldForm(
                        "shift_(Tensor(a!) self, int by, bool around=True) -> Tensor(a!)",
                        lambda call, input, by, around=True: call(input, by, wrap=around),
                    ),
                },
            ),
        }
        """)
    assert "register_versions(VERSIONS)" in files["generated/registry/view.py"]
    assert '"move_"' in files["generated/families.py"]  # a saved program with the old name has the family loaded
    assert "- version in saved programs: 3\n" in files["docs/ops/view.md"]


def test_an_expression_can_call_other_ops(tmp_path):
    ops = VERSIONS.replace("shift(self, 1)", "shift(clone(self), max(1, 2))")
    ops += "- func: clone(Tensor self) -> Tensor\n  family: view\n  composite: clone\n"
    files = emitted(tmp_path, ops, "shift(input, by, *, wrap)", "clone(input)")
    assert "lambda call, input: call(ops.clone(input), max(1, 2))" in files["generated/registry/view.py"]
    assert "from mindtorch.dispatch import ops" in files["generated/registry/view.py"]
