"""`help(torch.add)`: what the op computes, torch's signature, and the calls."""

import inspect
from operator import attrgetter

import pytest

import mindtorch as torch

WITHOUT_A_SENTENCE = 45  # of public functions and methods; may only go down
PLACES = ("", "linalg", "fft", "special", "nn.functional", "sparse", "signal.windows", "nn.init", "Tensor")


def public_functions():
    for place in PLACES:
        owner = attrgetter(place)(torch) if place else torch
        for name in dir(owner):
            value = None if name.startswith("_") else getattr(owner, name)
            if inspect.isfunction(getattr(value, "function", value)):  # which a mode may have taken the place of
                yield f"{place}.{name}".lstrip("."), value


def has_a_sentence(function):
    """Whether a docstring begins with something else than a call or a schema."""
    first = (function.__doc__ or "").partition("\n")[0]
    return bool(first) and " -> " not in first and not first.startswith(f"{function.__name__}(")


def test_few_functions_are_without_a_sentence():
    found = [name for name, function in public_functions() if not has_a_sentence(function)]
    assert len(found) == WITHOUT_A_SENTENCE, f"give these a docstring, those of ops a `doc:` in ops.yaml: {found}"


@pytest.mark.parametrize(
    ("name", "first", "parameters"),
    [
        ("add", "Element by element, `input + alpha * other`.", "(input, other, *, alpha=1, out=None)"),
        ("Tensor.add", "Element by element, `input + alpha * other`.", "(self, other, *, alpha=1)"),
        ("Tensor.add_", "`add` in place: the result is written into the tensor.", "(self, other, *, alpha=1)"),
        ("clip", "Another name of `clamp`.", "(input, min=None, max=None, *, out=None)"),
        ("fft.fft", "The discrete Fourier transform along `dim`", "(input, n=None, dim=-1, norm=None, *, out=None)"),
    ],
)
def test_help_begins_with_what_the_op_computes(name, first, parameters):
    function = attrgetter(name)(torch)
    assert function.__doc__.startswith(first)
    assert str(inspect.signature(function)) == parameters


def test_a_function_with_overloads_lists_their_calls_behind_an_empty_line():
    about, _, calls = torch.max.__doc__.partition("\n\n")
    assert about.startswith("The largest element of all; with `dim`, a pair (values, indices)")
    assert [line.strip() for line in calls.strip().split("\n")] == [
        "max(input, other, *, out=None)", "max(input, *, out=None)", "max(input, dim, keepdim=False, *, out=None)",
    ]  # fmt: skip


def test_methods_have_the_sentences_of_their_functions():
    assert all(
        getattr(torch.Tensor, name).__doc__ == getattr(torch, name).__doc__
        for name in ("sin", "cat", "sort")
        if hasattr(torch.Tensor, name)
    )
