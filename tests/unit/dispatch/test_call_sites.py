"""What the frame of a caller tells about the form of a call, in every version of Python."""

import sys

import pytest

from mindtorch.dispatch.arguments.call_sites import written_call


def form(*args, **kwargs):
    """The form of the call of this function; `args` and `kwargs` are what it should say."""
    found = written_call(sys._getframe(1))
    return None if found is None else (found.positional, found.keywords)


class Thing:
    def form(self, *args, **kwargs):
        found = written_call(sys._getframe(1))
        return None if found is None else (found.positional, found.keywords)


def handed_on(function, *args, **kwargs):
    return function(*args, **kwargs)


NAMES = {
    "f": form,
    "thing": Thing(),
    "handed_on": handed_on,
    "args": (1, 2),
    "numbers": [1, 2, 3],
    "kwargs": {"p": 1, "q": 2},
}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f()", (0, ())),
        ("f(1, 2)", (2, ())),
        ("f(1, a=2)", (1, ("a",))),
        ("f(a=1, b=2)", (0, ("a", "b"))),
        ("thing.form()", (0, ())),
        ("thing.form(1)", (1, ())),
        ("thing.form(1, a=2)", (1, ("a",))),
        ("thing.form(*args, **kwargs)", (2, ("p", "q"))),
        ("f(*args)", (2, ())),
        ("f(*numbers)", (3, ())),
        ("f(**kwargs)", (0, ("p", "q"))),
        ("f(1, 2, **kwargs)", (2, ("p", "q"))),
        ("f(*args, **kwargs)", (2, ("p", "q"))),
        ("f(1, *args)", (3, ())),
        ("f(1, 2, *args, **kwargs)", (4, ("p", "q"))),
        ("handed_on(f, 1, a=2)", (1, ("a",))),
        ("f(f(1), b=f(c=2))", (1, ("b",))),
        ("(lambda: f(a=1))()", (0, ("a",))),
        ("[f(1, 2) for _ in 'a'][0]", (2, ())),
    ],
)
def test_forms(call, expected):
    assert eval(call, NAMES) == expected


@pytest.mark.parametrize("call", ["f(*args, a=1)", "f(*args, a=1, **kwargs)", "f(*(args + args))"])
def test_what_the_code_does_not_tell(call):
    assert eval(call, NAMES) is None


def test_a_closure_and_the_first_argument():
    first, kwargs = object(), {"a": 1}
    args = (first, 2)

    def call():
        return (lambda *args, **kwargs: written_call(sys._getframe(1)))(*args, **kwargs)

    found = call()
    assert (found.positional, found.keywords) == (2, ("a",))
    assert found.first is first


def test_a_call_with_a_large_operand():
    constants = ", ".join(f"{number}.5" for number in range(600))
    assert eval(f"({constants}, f(1, last=2))[-1]", NAMES) == (1, ("last",))


def test_code_that_has_been_specialized():
    for _ in range(1000):
        found = form(1, a=2)
    assert found == (1, ("a",))


def test_no_caller():
    assert written_call(None) is None
