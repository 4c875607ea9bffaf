"""Subclasses of Tensor and `__torch_function__`."""

import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch.dispatch.torch_function import without_torch_function
from mindtorch.overrides import TorchFunctionMode


class Plain(torch.Tensor):
    pass


class Loud(torch.Tensor):
    seen: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func)
        return super().__torch_function__(func, types, args, kwargs)


class Deaf(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Child(Loud):
    pass


class TestPlainSubclass:
    def test_results_have_the_class(self):
        x = torch.ones(2, 2).as_subclass(Plain)
        assert type(x + 1) is Plain and type(torch.exp(x)) is Plain and type(1 + x) is Plain
        assert all(type(part) is Plain for part in x.unbind(0))
        values, indices = x.max(0)
        assert type(values) is Plain and type(x.shape) is torch.Size

    def test_gradients_flow(self):
        x = torch.ones(2, requires_grad=True)
        (x.as_subclass(Plain) * 3).sum().backward()
        assert x.grad.tolist() == [3, 3]

    def test_constructor(self):
        assert type(Plain([1, 2])) is Plain and Plain(2, 3).shape == (2, 3)

    def test_as_subclass_needs_a_subclass(self):
        with pytest.raises(
            TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"
        ):
            torch.ones(2).as_subclass(int)

    def test_make_subclass(self):
        x = torch.Tensor._make_subclass(Plain, torch.ones(2), True)
        assert type(x) is Plain and x.requires_grad and x.is_leaf


class TestTorchFunction:
    @pytest.mark.usefixtures("settled")
    def test_defining_a_class_switches_interception_on(self):
        before = state.active_modes
        type("Another", (torch.Tensor,), {"__torch_function__": classmethod(lambda cls, *args: NotImplemented)})
        assert state.active_modes == before + 1

    def test_sees_public_functions(self):
        Loud.seen.clear()
        x = torch.ones(2, 3).as_subclass(Loud)
        Loud.seen.clear()
        torch.sum(x, dim=0)
        assert Loud.seen == [torch.sum]

    def test_lists_of_tensors_are_looked_at(self):
        x = torch.ones(2).as_subclass(Loud)
        Loud.seen.clear()
        torch.cat([torch.ones(2), x])
        assert Loud.seen == [torch.cat]

    def test_subclasses_come_first(self):
        loud, child = torch.ones(2).as_subclass(Loud), torch.ones(2).as_subclass(Child)
        assert type(torch.add(loud, child)) is Child

    def test_multiple_dispatch_fails(self):
        with pytest.raises(TypeError) as caught:
            torch.exp(torch.ones(2).as_subclass(Deaf))
        assert str(caught.value).startswith(
            "Multiple dispatch failed for 'torch.exp'; all __torch_function__ handlers returned NotImplemented:\n\n"
            "  - tensor subclass <class '"
        )

    def test_switched_off(self):
        with without_torch_function():
            assert type(torch.exp(torch.ones(2).as_subclass(Deaf))) is torch.Tensor

    def test_objects_that_are_no_tensors(self):
        class Number:
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return func, types

        assert torch.mul(Number(), torch.ones(2)) == (torch.mul, (Number,))


class TestMode:
    @pytest.mark.usefixtures("settled")
    def test_sees_calls_without_subclasses(self):
        seen = []

        class Mode(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(func)
                return func(*args, **(kwargs or {}))

        before = state.active_modes
        with Mode():
            torch.mul(torch.ones(2), 2)
        torch.exp(torch.ones(2))
        assert torch.mul in seen and torch.exp not in seen and state.active_modes == before


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("cosine_similarity", torch.ones(2, 3)),
        ("soft_margin_loss", torch.ones(2, 3)),
        ("multi_margin_loss", torch.tensor([0, 2])),
        ("multilabel_margin_loss", torch.tensor([[0, 1, -1], [2, -1, 0]])),
    ],
)
def test_functions_that_a_decorator_wraps_take_subclasses(name, target):
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    function = getattr(torch.nn.functional, name)
    found = function(x.as_subclass(Plain), target)
    assert type(found) is Plain and torch.equal(found.as_subclass(torch.Tensor), function(x, target))
