"""Deprecated calls: what they do, and the one warning that each place in the code gets."""

import re
import threading
import warnings
from contextlib import contextmanager

import pytest

import mindtorch as torch
from mindtorch.dispatch.arguments.deprecation import OldCall
from tests.codegen.running import Running

OPS = """
- func: sum_to(Tensor self, int[] size, *, bool keepdim=False) -> Tensor
  family: view
  variants: function, method
  composite: sum_to
  autogen: inplace, out
  deprecated:
    - func: sum_to(Tensor self, int[] shape, bool keepdim=False) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: sum_to(self, shape, keepdim=keepdim)
    - func: reduce_to(Tensor self, int[] shape) -> Tensor
      since: 0.2.0
      removal: 0.5.0
      replacement: sum_to(self, shape, keepdim=True)

- func: scale(Tensor self, Scalar by, Scalar plus) -> Tensor
  family: view
  variants: function, method
  composite: scale
  deprecated:
    - func: scale(Tensor self) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: scale(self, self.ndim, 1)
    - func: scale(Tensor self, Scalar factor, Scalar plus) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: scale(self, factor, plus)

- func: mix(Tensor self, int size, *, Scalar alpha) -> Tensor
  family: view
  variants: function, method
  composite: mix
  deprecated:
    - func: mix(Tensor self, Scalar factor, Scalar alpha, int size) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: mix(self, size, alpha=alpha * factor)
    - func: mix(Tensor self, int size, Scalar alpha) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: mix(self, size, alpha=alpha)

- func: pick(Tensor self) -> Tensor
  family: view
  composite: pick

- func: pick.at(Tensor self, int dim, int index) -> Tensor
  family: view
  composite: pick_at
  deprecated:
    - func: pick(Tensor self, int dim, int index, bool wrap) -> Tensor
      since: 0.3.0
      removal: 0.4.0
      replacement: pick(self, dim, index)
"""


@pytest.fixture
def running(tmp_path, monkeypatch):
    return Running(
        tmp_path,
        OPS,
        monkeypatch,
        sum_to=lambda input, size, *, keepdim=False: (input, tuple(size), keepdim),
        scale=lambda input, by, plus: (input, by, plus),
        mix=lambda input, size, *, alpha: (input, size, alpha),
        pick=lambda input: (input,),
        pick_at=lambda input, dim, index: (input, dim, index),
    )


@contextmanager
def recorded(action="always"):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        yield found


def call(text, **names):
    """Run a call as the only line of a file of its own, so that no other test has been warned there."""
    call.files += 1
    with recorded() as found:
        result = eval(compile(text, f"{text} {call.files}.py", "eval"), names)
    return result, [(warning.category, str(warning.message)) for warning in found]


call.files = 0


def deprecated(old, new, since="0.2.0", removal="0.4.0"):
    text = f"`torch.{old}` is deprecated since mindtorch {since} and will be removed in {removal}"
    return [(FutureWarning, f"{text}; use `torch.{new}` instead.")]


def of_methods(found):
    """The warnings as a method gives them: `x.scale()` instead of `torch.scale(x)`."""
    return [(category, re.sub(r"torch\.(\w+)\(x(, )?", r"x.\1(", text)) for category, text in found]


SUM_TO = deprecated("sum_to(x, shape=...)", "sum_to(x, size=...)")
REDUCE_TO = deprecated("reduce_to(x, shape=...)", "sum_to(x, size=..., keepdim=True)", removal="0.5.0")
SCALE = deprecated("scale(x)", "scale(x, x.ndim, 1)")
FACTOR = deprecated("scale(x, factor=..., plus=...)", "scale(x, by=..., plus=...)")
MIX = deprecated("mix(x, factor, alpha, size)", "mix(x, size, alpha=alpha * factor)")
POSITIONAL_ALPHA = deprecated("mix(x, size, alpha)", "mix(x, size, alpha=alpha)")
PICK = deprecated("pick(x, dim, index, wrap)", "pick(x, dim, index)", "0.3.0")


@pytest.mark.parametrize("place", ["functions", "methods"])
@pytest.mark.parametrize(
    ("text", "expected", "warning"),
    [
        ("sum_to(x, (2, 3))", ((2, 3), False), []),
        ("sum_to(x, size=[2])", ((2,), False), []),
        ("sum_to(x, shape=(2, 3))", ((2, 3), False), SUM_TO),
        ("sum_to(x, shape=(2, 3), keepdim=True)", ((2, 3), True), SUM_TO),
        ("reduce_to(x, (2, 3))", ((2, 3), True), REDUCE_TO),
        ("reduce_to(x, shape=(2, 3))", ((2, 3), True), REDUCE_TO),
        ("scale(x, 2, 3)", (2, 3), []),
        ("scale(x)", (2, 1), SCALE),
        ("scale(x, factor=5, plus=6)", (5, 6), FACTOR),
        ("mix(x, 4, alpha=6)", (4, 6), []),
        ("mix(x, 2, 3, 4)", (4, 6), MIX),
        ("mix(x, factor=2, alpha=3, size=4)", (4, 6), MIX),
        ("mix(x, 4, 6)", (4, 6), POSITIONAL_ALPHA),
    ],
)
def test_old_calls_are_the_new_ones(running, place, text, expected, warning):
    x = torch.ones(2, 3)
    result, found = call(f"f.{text}", f=getattr(running, place), x=x)
    assert result[0] is x
    assert result[1:] == expected
    assert found == (of_methods(warning) if place == "methods" else warning)


def test_methods_take_separate_ints(running):
    x = torch.ones(2, 3)
    assert call("f.sum_to(x, 2, 3, keepdim=True)", f=running.methods, x=x)[0][1:] == ((2, 3), True)
    with pytest.raises(TypeError, match="sum_to"):
        running.functions.sum_to(x, 2, 3)


def test_resolvers_know_old_calls(running):
    x = torch.ones(2)
    assert call("f.pick(x)", f=running.functions, x=x) == ((x,), [])
    assert call("f.pick(x, 0, 1)", f=running.functions, x=x)[0][1:] == (0, 1)
    result, found = call("f.pick(x, 0, 1, True)", f=running.functions, x=x)
    assert result[1:] == (0, 1)
    assert found == PICK


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f.sum_to(x)", 'sum_to() missing 1 required positional arguments: "size"'),
        ("f.sum_to(x, (2,), shape=(2,))", "sum_to() got an unexpected keyword argument 'shape'"),
        ("f.sum_to(x, shape=2.5)", 'sum_to() missing 1 required positional arguments: "size"'),
        ("f.reduce_to(x)", 'reduce_to() missing 1 required positional arguments: "shape"'),
        ("f.mix(x, 1)", 'mix() missing 1 required positional arguments: "alpha"'),
        ("f.mix(x, 1, 2, 3, 4)", "mix() takes 2 positional arguments but 5 were given"),
        ("f.mix(x, 1, alpha=2, factor=3.5j, other=1)", "mix() got an unexpected keyword argument 'other'"),
        ("f.scale(x, 1)", 'scale() missing 1 required positional arguments: "plus"'),
        ("f.scale(x, 1, 2, factor=3)", "scale() got an unexpected keyword argument 'factor'"),
        ("torch.add(x, x, 2)", "add() takes 2 positional arguments but 3 were given"),
        ("x.add(x, 2)", "add() takes 1 positional argument but 2 were given"),
        ("torch.addmm(x, x, x, 2, 3)", "addmm() takes 3 positional arguments but 5 were given"),
    ],
)
def test_wrong_calls_are_no_old_ones(running, text, message):
    with pytest.raises(TypeError) as caught:
        call(text, f=running.functions, x=torch.ones(2, 2), torch=torch)
    assert str(caught.value) == message


def test_calls_that_torch_deprecates_get_its_warning():
    x, y = torch.ones(2), torch.ones(2)
    result, found = call("torch.add(x, 2, y)", torch=torch, x=x, y=y)
    assert result.tolist() == [3, 3]
    text = (
        "This overload of add is deprecated:\n\tadd(Tensor input, Number alpha, Tensor other, *, Tensor out = None)\n"
        "Consider using one of the following signatures instead:\n"
        "\tadd(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"
    )
    assert found == [(UserWarning, text)]


def test_the_release_is_that_of_the_package():
    form = OldCall(
        "wavelets::haar(Tensor self) -> Tensor", torch.abs, torch.abs, "1.2", "2.0", "w.haar(x)", "w.daub(x)"
    )
    text = "`w.haar(x)` is deprecated since wavelets 1.2 and will be removed in 2.0; use `w.daub(x)` instead."
    assert str(form.warning([], False)) == text


def test_the_variants():
    x, y, out = torch.ones(2), torch.full((2,), 3.0), torch.empty(0)
    assert call("torch.sub(x, 2, y, out=out)", torch=torch, x=x, y=y, out=out)[0] is out
    assert out.tolist() == [-5, -5]
    assert call("x.addcmul_(2, y, y)", x=x, y=y)[0] is x
    assert x.tolist() == [19, 19]


def test_gradients_flow_through_old_calls():
    x = torch.ones(2, requires_grad=True)
    result, _ = call("x.add(3, x)", x=x)
    assert type(result.grad_fn).__name__ == "AddBackward0"
    result.sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_subclasses_see_the_call_as_it_was_made():
    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, len(args), kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    seen = []
    x = torch.ones(2).as_subclass(Logged)
    del seen[:]
    call("torch.add(x, 2, x)", torch=torch, x=x)
    assert seen == [("add", 3, None)]


# -------------------- once for each place --------------------


@pytest.mark.parametrize("action", ["always", "default"])
def test_a_line_is_told_once(action):
    scope = {"torch": torch}
    exec(
        compile("def repeated(x):\n  for _ in range(3):\n    x.add(2, x)\n    torch.sub(x, 2, x)\n", action, "exec"),
        scope,
    )
    with recorded(action) as found:
        scope["repeated"](torch.ones(2))
        scope["repeated"](torch.ones(2))
    assert [(warning.filename, warning.lineno) for warning in found] == [(action, 3), (action, 4)]


def test_a_warning_that_is_an_error_is_one_each_time():
    code = compile("torch.add(x, 2, x)", "errors.py", "eval")
    names = {"torch": torch, "x": torch.ones(2)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="This overload of add is deprecated"):
                eval(code, names)
    with recorded() as found:
        eval(code, names)
        eval(code, names)
    assert len(found) == 1


def test_threads_share_what_was_told():
    code = compile("torch.add(x, 2, x)", "threads.py", "eval")
    names = {"torch": torch, "x": torch.ones(2)}
    barrier = threading.Barrier(8)

    def work():
        barrier.wait()
        eval(code, names)

    threads = [threading.Thread(target=work) for _ in range(8)]
    with recorded() as found:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 1
