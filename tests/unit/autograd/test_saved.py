"""Saved tensors: what nodes keep, hooks on it, and what is freed."""

import weakref

import pytest

import mindtorch as torch
from mindtorch._core.tensor import WrappedNumber
from mindtorch.autograd._engine.node import Node
from mindtorch.autograd._engine.saved_tensor import SavedOutput, SavedTensor, save, save_output, unpack

saved_tensors_hooks = torch.autograd.graph.saved_tensors_hooks


def leaf(*numbers):
    return torch.tensor([float(number) for number in numbers]).requires_grad_()


def identity(value):
    return value


class Keeper(Node):
    saved = ("x", "many")


class TestSaving:
    def test_inputs_are_kept_themselves(self):
        x = leaf(1)
        node = Keeper()
        assert save(x) is x and unpack(save(x), node) is x

    def test_numbers(self):
        assert save(WrappedNumber(3)) == 3 and unpack(3, Keeper()) == 3 and unpack(None, Keeper()) is None

    def test_outputs_are_kept_without_the_node(self):
        y = leaf(1).exp()
        node = y.grad_fn
        assert isinstance(node._mt_saved[0], SavedOutput)
        again = unpack(node._mt_saved[0], node)
        assert again is not y and again.grad_fn is node and again.data_ptr() == y.data_ptr()

    def test_an_output_outside_of_the_graph(self):
        assert isinstance(save_output(Keeper(), torch.ones(1)), torch.Tensor)

    def test_an_output_that_is_a_view(self):
        x = leaf(1, 2)
        y = x * 1
        view = y[0]
        view.exp_()
        function = y.grad_fn._mt_saved[0]
        (saved,) = function._mt_saved
        assert unpack(saved, function).grad_fn is view.grad_fn
        del view
        assert unpack(saved, function).grad_fn is function

    def test_inference_tensors(self):
        with torch.inference_mode():
            x = torch.ones(1)
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward."):
            leaf(1) * x
        leaf(1) + x

    def test_what_is_not_needed_is_not_saved(self):
        x = leaf(1)
        node = (x * torch.ones(1)).grad_fn
        assert node._saved_self is None and node._saved_other is not None


class TestLooking:
    def test_saved_values(self):
        x = leaf(1)
        node = (x * 2.5).grad_fn
        assert node._saved_other.item() == 2.5 and node._saved_other.dtype is torch.float64
        assert (x * x).grad_fn._saved_self is x
        with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute '_saved_nothing'"):
            _ = node._saved_nothing
        with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute 'nothing'"):
            _ = node.nothing

    def test_lists(self):
        node = Keeper()
        tensors = leaf(1), leaf(2)
        node._mt_saved = (None, [save(tensor) for tensor in tensors])
        assert node._saved_many == tensors and len(node._raw_saved_many) == 2 and node._saved_many == tensors

    def test_after_release(self):
        y = leaf(1) * leaf(2)
        node = y.grad_fn
        y.backward()
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            _ = node._saved_self
        with pytest.raises(RuntimeError, match="register_hooks on a saved tensor after it has been freed"):
            node._raw_saved_self.register_hooks(lambda tensor: tensor, lambda packed: packed)

    def test_memory_is_freed_with_the_graph(self):
        x = leaf(1, 2)
        hidden = x * 2
        reference = weakref.ref(hidden)
        y = (hidden * hidden).sum()
        del hidden
        assert reference() is not None
        y.backward()
        assert reference() is None


class TestRawSavedTensors:
    def test_hooks(self):
        x, seen = leaf(3), []
        y = x * x
        raw = y.grad_fn._raw_saved_self
        assert isinstance(raw, SavedTensor) and y.grad_fn._raw_saved_self is raw

        def pack(tensor):
            seen.append((tensor.requires_grad, torch.is_grad_enabled()))
            return tensor.tolist()

        raw.register_hooks(pack, lambda numbers: torch.tensor(numbers) * 10)
        y.backward()
        assert seen == [(False, False)] and x.grad.tolist() == [33]

    def test_only_once(self):
        y = leaf(3) * leaf(3)
        raw = y.grad_fn._raw_saved_self
        raw.register_hooks(identity, identity)
        with pytest.raises(
            RuntimeError, match="Calling register_hooks on a saved tensor whose hooks have already been set"
        ):
            raw.register_hooks(identity, identity)

    def test_nothing_saved(self):
        y = leaf(3) * torch.ones(1)
        with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor with value None is forbidden"):
            y.grad_fn._raw_saved_self.register_hooks(identity, identity)

    def test_must_be_callable(self):
        y = leaf(3) * leaf(3)
        with pytest.raises(TypeError, match="incompatible function arguments"):
            y.grad_fn._raw_saved_self.register_hooks(3, 3)

    def test_an_output(self):
        x = leaf(0, 1)
        y = x.exp()
        y.grad_fn._raw_saved_result.register_hooks(lambda tensor: tensor + 1, identity)
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert first.grad_fn.next_functions[1][0] is y.grad_fn or first.grad_fn.next_functions[0][0] is y.grad_fn

    def test_a_number(self):
        y = leaf(3) * 2
        y.grad_fn._raw_saved_other.register_hooks(identity, lambda tensor: tensor * 5)
        assert y.grad_fn._saved_other.item() == 10


class TestDefaultHooks:
    def test_packed_once_per_use(self):
        x, packed, unpacked = leaf(3), [], []
        with saved_tensors_hooks(lambda t: (packed.append(t is x), t)[1], lambda t: (unpacked.append(1), t)[1]):
            y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        assert packed == [True, True] and len(unpacked) == 4 and x.grad.tolist() == [12]

    def test_innermost_hooks_win(self):
        x, seen = leaf(3), []
        with saved_tensors_hooks(lambda t: (seen.append("outer"), t)[1], identity):
            with saved_tensors_hooks(lambda t: (seen.append("inner"), t)[1], identity):
                x.exp()
            x.exp()
        x.exp()
        assert seen == ["inner", "outer"]

    def test_unpacked_tensors_have_their_place_in_the_graph(self):
        x = leaf(2)
        with saved_tensors_hooks(lambda t: t * 1, identity):
            y = (x * 3) * x
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        assert first.tolist() == [12] and torch.autograd.grad(first, x)[0].tolist() == [6]

    def test_numbers_are_never_packed(self):
        with saved_tensors_hooks(lambda t: 1 / 0, identity):
            leaf(1) * 2.0

    def test_writes_in_the_pack_hook(self):
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place."):
            with saved_tensors_hooks(lambda t: t.detach().add_(1), identity):
                leaf(1).exp()

    def test_must_unpack_to_a_tensor(self):
        with saved_tensors_hooks(identity, lambda t: None):
            y = leaf(1).exp()
        with pytest.raises(TypeError, match="expected to be a Tensor but got result of type NoneType"):
            y.backward()

    def test_versions_are_not_checked(self):
        x = leaf(2) * 1
        with saved_tensors_hooks(lambda t: t.clone(), identity):
            y = x * x
        x.detach().add_(100)
        assert torch.autograd.grad(y, x)[0].tolist() == [4]

    def test_ends_with_an_exception(self):
        with pytest.raises(ZeroDivisionError), saved_tensors_hooks(lambda t: 1 / 0, identity):
            leaf(1).exp()
        leaf(1).exp()

    def test_disabled(self):
        disable = torch.autograd.graph.disable_saved_tensors_hooks
        with disable("not now"), pytest.raises(RuntimeError, match="not now"), saved_tensors_hooks(identity, identity):
            pass
        with (
            saved_tensors_hooks(identity, identity),
            pytest.raises(RuntimeError, match="nor here"),
            disable("nor here"),
        ):
            pass

    def test_must_be_callable(self):
        with pytest.raises(TypeError, match="incompatible function arguments"), saved_tensors_hooks(3, 4):
            pass

    def test_save_on_cpu(self):
        x = leaf(3)
        with torch.autograd.graph.save_on_cpu():
            y = x * x
        y.backward()
        assert x.grad.tolist() == [6]


def test_a_pack_hook_that_fails_changes_nothing():
    def fail(tensor):
        raise ValueError("stop")

    x = torch.tensor([1.0, 2.0]).requires_grad_()
    y = x.exp()
    with pytest.raises(ValueError, match="stop"):
        y.grad_fn._raw_saved_result.register_hooks(fail, fail)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_a_factor_of_kron_is_noticed_when_it_changes():
    """The rows that are multiplied lie in the factor's memory. PyTorch keeps them without its version, and gives a
    gradient of the changed numbers."""
    x = torch.ones(1, requires_grad=True) * 1
    product = torch.kron(x, x)
    x.sin_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
