"""Calls of old versions of ops, which saved programs make."""

import pytest

import mindtorch as torch
from mindtorch.dispatch.versions import UnknownVersion, call_version, current_version
from tests.codegen.running import Running

OPS = """
- func: shift(Tensor self, int by, *, bool wrap) -> Tensor
  family: view
  autogen: inplace, out
  composite: shift
  versions:
    - version: 1
      func: move(Tensor self) -> Tensor
      upgrade: shift(self, 1 + self.ndim)
    - version: 2
      func: shift(Tensor self, int distance, bool around=True) -> Tensor
      upgrade: shift(self, -distance, wrap=around)

- func: same(Tensor self) -> Tensor
  family: view
  composite: same
"""


@pytest.fixture(autouse=True)
def running(tmp_path, monkeypatch):
    return Running(
        tmp_path, OPS, monkeypatch, shift=lambda input, by, *, wrap: (input, by, wrap), same=lambda input: (input,)
    )


X = torch.ones(2)

CALLS = {
    "present": (("shift", 3, (X, 4), {"wrap": False}), (4, False)),
    "present by name": (("shift", 3, (), {"input": X, "by": 4, "wrap": False}), (4, False)),
    "one version back": (("shift", 2, (X, 4, False), {}), (-4, False)),
    "one version back, by name": (("shift", 2, (), {"input": X, "distance": 4}), (-4, True)),
    "two versions back, under another name": (("move", 1, (X,), {}), (-2, True)),
    "an op without a past": (("same", 1, (X,), {}), ()),
    "an op of the library": (("mul.Tensor", 1, (X, 3), {}), None),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    (op, version, args, kwargs), expected = CALLS[name]
    result = call_version(op, version, args, kwargs)
    if expected is None:
        assert result.tolist() == [3, 3]
    else:
        assert result[0] is X
        assert result[1:] == expected


def test_numbers():
    assert [current_version(op) for op in ("shift", "shift_", "shift.out", "same", "mul.Tensor")] == [3, 3, 3, 1, 1]


@pytest.mark.parametrize(
    ("op", "version", "message"),
    [
        ("shift", 4, "'shift' has no version 4 yet (known: 2, 3): use a later release of mindtorch"),
        ("shift", 1, "version 1 of 'shift' can no longer be run (known: 2, 3)"),
        ("move", 2, "'move' has no version 2 yet (known: 1): use a later release of mindtorch"),
        ("same", 2, "'same' has no version 2 yet (known: 1): use a later release of mindtorch"),
        ("turn", 1, "there is no op 'turn': it was added by a later release, or has been removed"),
    ],
)
def test_unknown_versions(op, version, message):
    with pytest.raises(UnknownVersion) as caught:
        call_version(op, version, (X,))
    assert str(caught.value) == message
