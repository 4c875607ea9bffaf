"""What the generator writes for a small project, for the tests of the emitters."""

import ast
from functools import cache
from textwrap import dedent

from codegen.emit import emit_all
from codegen.load import load
from codegen.render import format_python
from tests.codegen.project import write_project


def emit_project(root, ops, derivatives="[]", **files):
    """The generated files of a project, before black."""
    return emit_all(load(write_project(root, ops, derivatives, **files)))


@cache
def _formatted(text):
    return format_python(text)


def definition(files, path, name):
    """A function, class or assignment of a generated file, as it is written."""
    text = _formatted(files[path])
    for statement in ast.parse(text).body:
        targets = [target.id for target in getattr(statement, "targets", ()) if isinstance(target, ast.Name)]
        if name in (getattr(statement, "name", None), *targets):
            return ast.get_source_segment(text, statement) + "\n"
    raise AssertionError(f"{path} does not define {name}")


def expected(text):
    return dedent(text).lstrip("\n")
