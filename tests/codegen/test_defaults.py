"""Defaults that hand-written functions have beside their schemas."""

import pytest

from tests.codegen.project import diagnostics, write_project

ENTRY = """
- func: pool(Tensor self, {}) -> Tensor
  family: nn
  python_module: nn
  {}
"""
PLACES = {
    "kernel": ("dispatch: {CPU: pool}", "mindtorch/backends/cpu/nn.py"),
    "composite": ("composite: pool", "mindtorch/composite/nn.py"),
    "functional": ("dispatch: {CPU: pool}", "mindtorch/nn/functional.py"),
}


def found_in(root, argument, default, place="composite"):
    name = argument.partition("=")[0].split(" ")[-1]
    line, file = PLACES[place]
    source = f"def pool(input, {name}={default}): ...\n"
    write_project(root, ENTRY.format(argument, line), "[]", **{file.removesuffix(".py").replace("/", "__"): source})
    return diagnostics(root)


@pytest.mark.parametrize(
    ("argument", "default"),
    [
        ("int dim=-1", "-1"),
        ("int[1] dim=[]", "()"),
        ("int[2] stride=1", "(1, 1)"),
        ("int[2] stride=[1,2]", "(1, 2)"),
        ("float eps=1e-05", "0.00001"),
        ("int reduction=Mean", "1"),
        ("int reduction=Mean", "'mean'"),
        ('str mode="sum"', "'sum'"),
        ("bool? pin_memory=None", "False"),
        ("int[2]? stride=2", "None"),
        ("int dim=0", "STANDARD"),
        ("int dim", "3"),
        ("ScalarType dtype=long", "4"),
    ],
)
def test_defaults_that_agree(tmp_path, argument, default):
    assert found_in(tmp_path, argument, default) == ()


@pytest.mark.parametrize(
    ("argument", "default"),
    [
        ("int dim=-1", "0"),
        ("int? dim=None", "0"),
        ("int[2] stride=1", "(2, 2)"),
        ("int[2] stride=[1,2]", "(2, 1)"),
        ("bool keepdim=False", "True"),
        ("bool keepdim=False", "0"),
        ('str mode="sum"', "'mean'"),
        ("float eps=1e-05", "1e-06"),
        ("int reduction=Mean", "2"),
    ],
)
def test_defaults_that_differ(tmp_path, argument, default):
    (found,) = found_in(tmp_path, argument, default)
    name = argument.partition("=")[0].split(" ")[-1]
    assert (found.code, found.location.line) == ("E046", 1)
    assert found.message == f"'{name}' is {default} by default, but pool has '{argument}'"
    assert found.source_line[found.location.column - 1 :].startswith(default)
    assert found.hint == "write the same default here and in ops.yaml, line 1"


@pytest.mark.parametrize("place", PLACES)
def test_every_hand_written_function_is_compared(tmp_path, place):
    (found,) = found_in(tmp_path, "int dim=-1", "1", place)
    assert found.location.file == PLACES[place][1]
