"""Files that cannot be read, and the promise that no input, however wrong, ends in a traceback."""

import os
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.errors import InvalidInput
from codegen.load import load
from tests.codegen.project import DERIVATIVES, OPS, clean, diagnostics, load_project, write_project


def first_lines(root):
    return [str(diagnostic).splitlines()[0] for diagnostic in diagnostics(root)]


@pytest.mark.parametrize("name", ["ops.yaml", "derivatives.yaml"])
def test_missing_file(tmp_path, name):
    write_project(tmp_path, derivatives="[]").joinpath(name).unlink()
    assert f"{name}:1:1: error[E001] cannot read {name}: No such file or directory" in first_lines(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows words the error otherwise")
def test_directory_in_place_of_a_file(tmp_path):
    write_project(tmp_path, derivatives="[]").joinpath("ops.yaml").unlink()
    tmp_path.joinpath("ops.yaml").mkdir()
    assert first_lines(tmp_path) == ["ops.yaml:1:1: error[E001] cannot read ops.yaml: Is a directory"]


def test_not_utf8(tmp_path):
    path = write_project(tmp_path, derivatives="[]") / "ops.yaml"
    path.write_bytes(clean(OPS).encode() + b"  # caf\xe9\n")
    (found,) = diagnostics(tmp_path)
    lines = clean(OPS).count("\n")
    assert str(found).splitlines()[0] == f"ops.yaml:{lines + 1}:8: error[E002] ops.yaml is not UTF-8: byte 0xe9"
    assert found.hint == "save the file as UTF-8"


def test_helpers_that_are_no_python(tmp_path):
    write_project(tmp_path, derivatives="[]", mindtorch__autograd__formulas="def multiply(:\n")
    (line,) = first_lines(tmp_path)
    assert line.startswith("mindtorch/autograd/formulas.py:1:14: error[E080] not Python: ")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("  family", "\tfamily", 1),
        lambda text: text.replace("  family", "    family", 1),
        lambda text: text.replace("CPU: mul}", "CPU: mul", 1),
        lambda text: "",
        lambda text: text.replace("\n\n- func", "\n---\n- func", 1),
        lambda text: text.replace("- func", "- fnuc", 1),
        lambda text: text.replace("pointwise", "pointwize", 1),
        lambda text: text + text.split("\n\n")[0],
    ],
    ids=("tab", "indent", "brace", "empty", "document", "key", "family", "twice"),
)
def test_a_mistake_in_ops_is_not_blamed_on_derivatives(tmp_path, damage):
    write_project(tmp_path, ops=damage(clean(OPS)))
    (found,) = diagnostics(tmp_path)
    assert found.location.file == "ops.yaml"


def test_helpers_that_cannot_be_read_are_not_missed(tmp_path):
    derivatives = DERIVATIVES.replace("grad * other", "multiply(grad, other)")
    write_project(tmp_path, derivatives=derivatives, mindtorch__autograd__formulas="def multiply(:\n")
    (found,) = diagnostics(tmp_path)
    assert found.code == "E080"


@pytest.mark.parametrize("text", ["x = " + "-" * 50_000 + "1", "x = " + "1 + " * 20_000 + "1", "x = " + "(" * 900])
def test_code_that_is_too_deep_for_python(tmp_path, text):
    write_project(tmp_path, derivatives="[]", mindtorch__autograd__formulas=text)
    (found,) = diagnostics(tmp_path)
    assert (found.code, found.location.line) == ("E080", 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    path = write_project(tmp_path) / "ops.yaml"
    path.unlink()
    os.mkfifo(path)
    assert first_lines(tmp_path)[0] == "ops.yaml:1:1: error[E001] cannot read ops.yaml: it is a pipe or a device"


def test_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path):
    path = write_project(tmp_path) / "ops.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert "mul.Tensor" in load(tmp_path).ops


def test_all_problems_are_reported_in_order(tmp_path):
    ops = """
    - func: abs(Tensor self) -> Tensor
      familly: pointwise
      dispatch: {CPU: abs}
    - func: neg(Tensr self) -> Tensor
      family: pointwise
    """
    derivatives = """
    - name: neg(Tensr self) -> Tensor
      self: -grad
    - name: abs(Tensor self) -> Tensor
      self: gradd
    """
    write_project(tmp_path, ops, derivatives)
    assert [(found.location.file, found.location.line, found.code) for found in diagnostics(tmp_path)] == [
        ("ops.yaml", 2, "E012"),
        ("ops.yaml", 4, "E021"),
        ("derivatives.yaml", 4, "E061"),
    ]


def test_message_shows_line_and_caret(tmp_path):
    ops = "- func: abs(Tensor self) -> Tensor\n  family: pointwize\n  dispatch: {CPU: abs}\n"
    with pytest.raises(InvalidInput) as error:
        load_project(tmp_path, ops, "[]")
    assert str(error.value).splitlines() == [
        "ops.yaml:2:11: error[E015] unknown value 'pointwize' of 'family'",
        "    family: pointwize",
        "            ^",
        "help: did you mean 'pointwise'?",
    ]


def test_the_end_of_a_file_is_inside_it(tmp_path):
    path = write_project(tmp_path, derivatives="[]") / "ops.yaml"
    path.write_bytes(b'- func: abs(Tensor self) -> Tensor\n  family: "\\x')
    assert first_lines(tmp_path)[0].startswith("ops.yaml:2:14: error[E004] not YAML: ")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_lines_are_counted_as_yaml_counts_them(tmp_path, end):
    path = write_project(tmp_path, derivatives="[]") / "ops.yaml"
    lines = ["- func: abs(Tensor self) -> Tensor", "  family: pointwise", "  dispatch: {CPU: abs}", "  é: 1"]
    path.write_bytes(end.join(lines).encode())
    (found,) = diagnostics(tmp_path)
    assert (found.location.line, found.source_line) == (4, "  é: 1")
    path.write_bytes(end.join([*lines[:3], "  é: \7"]).encode())
    (found,) = diagnostics(tmp_path)
    assert str(found).startswith("ops.yaml:4:6: error[E004] not YAML: control characters are not allowed")


def test_messages_are_printable_and_of_bounded_length(tmp_path):
    names = ", ".join(f"name{i}" for i in range(500))
    derivatives = f"""
    - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: max({names})
      other: \u202e
    """
    with pytest.raises(InvalidInput) as error:
        load_project(tmp_path, derivatives=derivatives)
    assert len(error.value.diagnostics) == 501
    text = str(error.value)
    assert text.endswith("\n\n... and 301 more")
    assert "\u202e" not in text and max(map(len, text.splitlines())) < 1000


def test_an_unknown_name_is_reported_once_per_formula(tmp_path):
    write_project(tmp_path, derivatives=DERIVATIVES.replace("grad * other", "gradd * gradd"))
    assert [found.hint for found in diagnostics(tmp_path)] == ["did you mean 'grad'?"]


@pytest.mark.parametrize("opening", ["[", "- ", "? ", "{a: "])
def test_deep_nesting(tmp_path, opening):
    write_project(tmp_path, ops=opening * 50_000, derivatives="[]")
    assert {found.code for found in diagnostics(tmp_path)} <= {"E004", "E006", "E010"}


@pytest.mark.parametrize(
    ("before", "middle", "after"),
    [("(" * 500, "", ""), ("-" * 20_000, "grad", ""), ("", "grad", " + grad" * 20_000), ("", "self", ".t()" * 5000)],
    ids=("brackets", "signs", "sum", "calls"),
)
def test_deep_formula(tmp_path, before, middle, after):
    formula = before + middle + after
    derivatives = f'- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: "{formula}"\n  other: grad\n'
    write_project(tmp_path, derivatives=derivatives)
    assert {found.code for found in diagnostics(tmp_path)} <= {"E060"}


def edited(text):
    """The text with one part replaced by other characters."""
    pieces = st.text("-:,.()[]{}|>*&!?=_ \t\n'\"#ae0é\0", max_size=6)
    return st.builds(
        lambda start, length, piece: text[:start] + piece + text[start + length :],
        st.integers(0, len(text)),
        st.integers(0, 12),
        pieces,
    )


@settings(max_examples=200, deadline=None)
@given(ops=edited(clean(OPS)), derivatives=edited(clean(DERIVATIVES)))
def test_damaged_files_give_diagnostics_or_load(tmp_path_factory, ops, derivatives):
    root = tmp_path_factory.mktemp("project")
    write_project(root, ops, derivatives)
    assert all(found.location.line >= 1 and found.location.column >= 1 for found in diagnostics(root))
