"""Ops that are in a module: under which name, for programs, for type checkers and in the reference."""

import pytest

from codegen.render import format_files
from tests.codegen.emitted import emit_project

INVERSE = """
- func: linalg_inv(Tensor A) -> Tensor
  family: linalg
  python_module: linalg
  autogen: out
  dispatch: {CPU: inv}
"""
RENAMED = f"""{INVERSE.rstrip()}
  deprecated:
    - func: linalg_inverse(Tensor A) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: linalg_inv(A)
"""
PRIVATE = """
- func: _linalg_check(Tensor A) -> Tensor
  family: linalg
  python_module: linalg
  dispatch: {CPU: check}
"""
NN = """
- func: gelu(Tensor self) -> Tensor
  family: nn
  python_module: nn
  autogen: inplace
  dispatch: {CPU: gelu}

- func: im2col(Tensor self) -> Tensor
  family: nn
  python_module: nn
  dispatch: {CPU: im2col}
"""
FUNCTIONAL = {"mindtorch__nn__functional": "from mindtorch.nn.activations import gelu as gelu\n"}


def python_lines(files, family):
    return [line for line in files[f"docs/ops/{family}.md"].splitlines() if line.startswith("- Python: ")]


def test_the_list_of_a_module(tmp_path):
    files = format_files(emit_project(tmp_path, INVERSE + PRIVATE))
    assert files["generated/modules/linalg.py"].partition('"""\n\n')[2] == (
        "from mindtorch._generated.ops.linalg import linalg_inv as inv\n\n" '__all__ = [\n    # linalg\n    "inv",\n]\n'
    )
    stub = files["mindtorch/_generated/modules/linalg.pyi"]
    assert '__all__ = [\n    "inv",\n]\n' in stub
    assert "\ndef inv(A: Tensor, *, out: Tensor | None = None) -> Tensor: ...\n" in stub
    assert "inv" not in files["generated/functions.py"].partition('"""\n\n')[2]


def test_there_is_none_of_a_module_without_ops(tmp_path):
    assert not [path for path in emit_project(tmp_path, NN + PRIVATE) if "generated/modules" in path]


def test_an_old_name_of_an_op(tmp_path):
    files = format_files(emit_project(tmp_path, RENAMED))
    listed = files["generated/modules/linalg.py"]
    assert "linalg_inv as inv, linalg_inverse as inverse\n" in listed and '"inverse",' in listed
    advice = "deprecated since 0.2.0, removed in 0.4.0: use torch.linalg.inv(A)"
    assert f'@deprecated("{advice}")\ndef inverse(A: Tensor,' in files["mindtorch/_generated/modules/linalg.pyi"]
    assert '"torch.linalg.inverse(A)"' in files["generated/registry/linalg.py"]


@pytest.mark.parametrize(
    ("ops", "family", "expected"),
    [
        (INVERSE, "linalg", "`mindtorch.linalg.inv`"),
        (PRIVATE, "linalg", "`mindtorch.ops.aten._linalg_check`"),
        (NN, "nn", "`mindtorch.nn.functional.gelu`"),
        (NN.replace("gelu", "_gelu"), "nn", "`mindtorch.ops.aten._gelu`"),
        (INVERSE.replace("  python_module: linalg\n", ""), "linalg", "`mindtorch.linalg_inv`"),
        (
            INVERSE.replace("  autogen", "  python: hidden\n  autogen"),
            "linalg",
            "reached through `mindtorch.ops.aten.linalg_inv`",
        ),
    ],
)
def test_where_the_reference_says_that_an_op_is(ops, family, expected, tmp_path):
    assert python_lines(emit_project(tmp_path, ops, **FUNCTIONAL), family)[0] == f"- Python: {expected}"


def test_what_nn_functional_does_not_have_is_an_aten_op(tmp_path):
    lines = python_lines(emit_project(tmp_path, NN, **FUNCTIONAL), "nn")
    assert lines[1] == "- Python: `mindtorch.ops.aten.im2col`"
