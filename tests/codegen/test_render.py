"""Black formats what is new, piece by piece, with the result that it would give for the whole file."""

import ast

import pytest

from codegen import render
from codegen.emit import emit_all
from tests.codegen.project import DERIVATIVES, OPS, load_project


@pytest.fixture
def formatted(monkeypatch, tmp_path):
    """The texts that black is given, from an empty memory on."""
    texts = []
    format_python = render.format_python
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "memory"))
    monkeypatch.setattr(render, "format_python", lambda text, **mode: texts.append(text) or format_python(text, **mode))
    return texts


def test_pieces_make_the_same_file(formatted, tmp_path):
    files = emit_all(load_project(tmp_path, OPS, DERIVATIVES))
    result = render.format_files(files)
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            assert result[path] == render.format_python(text, is_pyi=path.endswith(".pyi")), path


def test_only_what_changed_is_formatted(formatted, tmp_path):
    before = render.format_files(emit_all(load_project(tmp_path, OPS, DERIVATIVES)))
    formatted.clear()
    assert render.format_files(emit_all(load_project(tmp_path, OPS, DERIVATIVES))) == before
    assert formatted == []
    render.format_files(emit_all(load_project(tmp_path, OPS, DERIVATIVES.replace("grad * other", "grad + other"))))
    assert len(formatted) == 1 and "class MulBackward0(Node)" in formatted[0]


def test_a_damaged_memory_is_forgotten(formatted, tmp_path):
    files = emit_all(load_project(tmp_path, OPS, DERIVATIVES))
    before = render.format_files(files)
    for memory in (tmp_path / "memory").rglob("*.json"):
        memory.write_text("{")
    assert render.format_files(files) == before


def test_a_memory_that_cannot_be_replaced_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    memory = render._memory("a.py")
    memory.mkdir(parents=True)
    with pytest.raises(OSError):
        render._remember("a.py", {"key": "text"}, ["key"])
    assert [path.name for path in memory.parent.iterdir()] == ["a.py.json"]


@pytest.mark.parametrize(
    "source, names",
    [
        ("a.b(c, d=e, *f)", "acef"),
        ("a[\"b\"] = 'c' # d", "a"),
        ('def _(x):\n    """a: b\n    c"""\n    return d', "d"),
        ('a("b\\"c", d)', "ad"),
        ("a = b == c", "abc"),
        ("a if b=='c' else d", "abd"),
    ],
)
def test_names_are_no_words_of_strings_attributes_and_keywords(source, names):
    words = {word for word in render.used_names(source) if word.isidentifier() and len(word) == 1}
    assert words - {"_", "x"} == set(names)


def test_names_are_those_that_a_parser_finds(tmp_path):
    """But for a name in an f-string, which is not imported."""
    files = emit_all(load_project(tmp_path, OPS, DERIVATIVES))
    modules = [text for path, text in files.items() if path.endswith((".py", ".pyi"))]
    for text in modules:
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        assert names - {"__name__"} <= render.used_names(text)
    assert len(modules) > 10
