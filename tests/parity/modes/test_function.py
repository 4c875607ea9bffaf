"""`__torch_function__` and `torch.overrides`: what is seen, how it is called, and what comes of it, as in torch."""

import inspect
from importlib import import_module

import pytest

from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def overrides(T):
    return import_module(f"{T.__name__}.overrides")


def logging_class(T, seen):
    names = overrides(T).resolve_name

    class Logged(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            shown = [each.__name__ for each in types]
            seen.append(f"{names(func)} {shown} {len(args)} {kwargs and sorted(kwargs)}")
            return super().__torch_function__(func, types, args, kwargs or {})

    return Logged


def logging_mode(T, seen):
    names = overrides(T).resolve_name

    class Logging(overrides(T).TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            shown = [each.__name__ for each in types]
            seen.append(f"{names(func)} {shown} {len(args)} {kwargs and sorted(kwargs)}")
            return func(*args, **(kwargs or {}))

    return Logging()


CALLS = [
    "x.shape", "x.grad", "x.T", "x.mT", "x.H", "x.requires_grad", "x.is_leaf", "x.dtype", "x.device", "x.ndim",
    "x.data", "x.grad_fn", "x.real", "x.layout", "x._version", "x._base", "x.itemsize", "x.nbytes", "x.output_nr",
    "x.retains_grad", "x.is_sparse", "x.is_meta", "x.size()", "x.size(0)", "x.dim()", "x.numel()", "x.stride()",
    "len(x)", "x[0]", "x[0, 1:]", "x + x", "1 + x", "x + 1", "x - x", "1 - x", "2 * x", "x / 2", "2 / x", "x // 2",
    "2 // x", "x % 2", "2 % x", "2 ** x", "x @ x.T", "+x", "~(x > 0)", "x == x", "x != 1", "x < 1", "1 < x",
    "x >= x", "hash(x) and 0", "bool(x[0, 0])", "float(x[0, 0].detach())", "int(x[0, 0])", "x.tolist()",
    "x[0, 0].item()", "x in [x]", "0 in x", "x.add(x)", "x.mul(2)", "T.add(x, x)", "T.add(x, 2, alpha=3)", "T.zeros(2)",
    "T.ones_like(x)", "T.tensor([1])", "T.as_tensor([1])", "T.arange(3)", "T.full_like(x, 2)", "T.cat([x, x])",
    "T.stack([x, T.ones(2, 3)])", "F.relu(x)", "F.linear(x, x)", "F.dropout(x)", "F.mse_loss(x, x)",
    "F.cross_entropy(x, T.tensor([0, 1]))", "F.layer_norm(x, (3,))", "F.gelu(x)", "F.pad(x, (1, 1))",
    "F.one_hot(T.tensor([0, 1]))", "F.embedding(T.tensor([0, 1]), x)", "F.normalize(x)", "F.max_pool2d(x[None], 1)",
    "F.batch_norm(x, None, None, training=True)", "F.elu(x)", "F.l1_loss(x, x)", "F.nll_loss(x, T.tensor([0, 1]))",
    "x.sum().backward()", "T.autograd.grad(x.sum(), x)", "T.einsum('ij->ji', x)", "T.split(x, 1)", "x.split(1)",
    "x.unique()", "T.unique(x)", "T.fft.fft(x)", "T.special.expit(x)", "T.isclose(x, x)", "T.allclose(x, x)",
    "T.equal(x, x)", "T.is_tensor(x)", "T.is_floating_point(x)", "T.numel(x)", "T.broadcast_tensors(x, x)",
    "T.atleast_2d(x)", "T.where(x > 0, x, x)", "x.to(T.float64)", "x.double()", "x.cpu()", "x.type()", "x.clone()",
    "x.detach()", "x.contiguous()", "x.view(-1)", "x.reshape(3, 2)", "x.requires_grad_()", "x.new_zeros(2)",
    "x.is_contiguous()", "x.element_size()", "x.is_floating_point()", "x.expand(2, 2, 3)", "x.masked_fill(x > 0, 1)",
    "x.index_select(0, T.tensor([0]))", "x.topk(1)", "x.sort()", "x.max(0)", "T.max(x, 0)", "T.max(x, x)",
    "T.sum(x, 0)", "T.mean(x, dim=0)", "T.addmm(x[0], x, T.ones(3, 3))", "x.t()", "T.manual_seed(0) and 0",
    "T.broadcast_shapes((2,), (1,))", "T.result_type(x, x)", "T.promote_types(T.int32, T.float32)",
    "x.detach().add_(1)", "x.detach().zero_()", "x.detach().fill_(0)", "x.is_shared()", "T.ops.aten.add.Tensor(x, x)",
]  # fmt: skip


def evaluated(T, call, x):
    result = eval(call, {"T": T, "F": T.nn.functional, "x": x})
    return type(result).__name__


def numbers(T):
    return T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("call", CALLS)
def test_what_a_class_sees(call):
    def run(T):
        seen = []
        x = numbers(T).as_subclass(logging_class(T, seen)).requires_grad_()
        seen.clear()
        return evaluated(T, call, x), seen

    assert_same(run)


@pytest.mark.parametrize("call", CALLS)
def test_what_a_mode_sees(call):
    def run(T):
        seen = []
        x = numbers(T).requires_grad_()
        with logging_mode(T, seen):
            kind = evaluated(T, call, x)
        return kind, [line for line in seen if not line.startswith("torch.Tensor.neg")]

    assert_same(run)


@program
def setters_and_writes(T):
    seen = []
    p = T.ones(2).as_subclass(logging_class(T, seen))
    p.requires_grad = True
    p.grad = T.ones(2)
    del p.grad
    p.data = T.zeros(2)
    q = p.clone()
    q += 1
    q[0] = 1
    q.mul_(2)
    return seen, q._version


@program
def default_classes(T):
    class Plain(T.Tensor):
        pass

    s = Plain([1.0, 2.0])
    line = T.nn.Linear(2, 1)
    results = [
        s + 1, s[0], s.numpy(), T.stack([s, T.ones(2)]), T.nn.functional.softmax(s, 0), T.ones(2).add_(s), s.grad,
        s.data, s.mT if s.ndim > 1 else s, line(s), s.unbind(), s.tolist(),
    ]  # fmt: skip
    line(s).sum().backward()
    return [type(each).__name__ for each in results], type(line.weight.grad).__name__, repr(s)


@program
def subclasses_come_first(T):
    order = []

    def make(name, base):
        def override(cls, func, types, args=(), kwargs=None):
            order.append(name)
            return NotImplemented

        return type(name, (base,), {"__torch_function__": classmethod(override)})

    Base = make("Base", T.Tensor)
    Child, Other = make("Child", Base), make("Other", T.Tensor)
    base, child, other = (T.ones(2).as_subclass(kind) for kind in (Base, Child, Other))
    for args in ((base, child), (other, base, child), (child, other)):
        try:
            T.cat(list(args))
        except TypeError:
            order.append("none")
    return order


@program
def no_override_answers(T):
    class Deaf(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class DeafMode(overrides(T).TorchFunctionMode):
        def __repr__(self):
            return "DeafMode()"

        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    deaf, plain = T.ones(2).as_subclass(Deaf), T.ones(2)
    calls = [
        lambda: T.nn.functional.relu(deaf), lambda: T.exp(deaf), lambda: deaf + 1, lambda: deaf.shape,
        lambda: T.cat([deaf]), lambda: deaf.sum(0), lambda: plain * "a",
        lambda: overrides(T).handle_torch_function(T.add, (deaf,), deaf, deaf),
    ]  # fmt: skip
    errors = [error_of(call) for call in calls]
    with DeafMode():
        errors += [error_of(call) for call in (calls[0], calls[1], lambda: T.exp(plain), lambda: T.ones(1))]
    return errors


def error_of(call):
    try:
        return repr(call())
    except TypeError as error:
        return str(error)


@program
def modes_within_modes(T):
    seen = []
    o = overrides(T)

    class Named(o.TorchFunctionMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((self.name, o.resolve_name(func)))
            return func(*args, **(kwargs or {}))

    class AgainInside(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(o.resolve_name(func))
            if func is T.zeros:
                with self:
                    return T.ones(2)
            return func(*args, **(kwargs or {}))

    with Named("outer"):
        with Named("inner"):
            T.ones(2)
        T.nn.functional.relu(T.zeros(2)).sum()
    with AgainInside():
        T.zeros(2)
    with o.BaseTorchFunctionMode():
        T.ones(1)
    with pytest.raises(NotImplementedError), o.TorchFunctionMode():
        T.ones(1)
    return seen, o._get_current_function_mode(), o._get_current_function_mode_stack()


@program
def switched_off(T):
    seen = []
    x = T.ones(2).as_subclass(logging_class(T, seen))
    seen.clear()
    disable = T._C if hasattr(T, "_C") else overrides(T)
    with logging_mode(T, seen):
        with disable.DisableTorchFunctionSubclass():
            x + 1
            T.ones(2)
        with disable.DisableTorchFunction():
            x + 1
            T.ones(2)
    return seen


@program
def classes_that_are_no_tensors(T):
    class Diagonal:
        def __init__(self, size, value):
            self.size, self.value = size, value

        def __repr__(self):
            return f"Diagonal({self.size}, {self.value})"

        def tensor(self):
            return self.value * T.eye(self.size)

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is T.mean:
                return float(args[0].value) / args[0].size
            dense = [each.tensor() if isinstance(each, Diagonal) else each for each in args]
            return func(*dense, **(kwargs or {})) if func in (T.add, T.nn.functional.relu) else NotImplemented

    d = Diagonal(2, 3)
    return T.mean(d), T.add(d, T.ones(2, 2)), T.add(T.ones(2, 2), d), error_of(lambda: T.mul(d, 3))


@program
def a_tensor_with_units(T):
    class Unit(T.Tensor):
        @staticmethod
        def __new__(cls, value, unit):
            tensor = T.Tensor._make_subclass(cls, value)
            tensor.unit = unit
            return tensor

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            units = [each.unit for each in args if hasattr(each, "unit")]
            result = super().__torch_function__(func, types, args, kwargs or {})
            if isinstance(result, Unit):
                result.unit = "*".join(units)
            return result

    a, b = Unit(T.tensor([2.0]), "m"), Unit(T.tensor([3.0]), "s")
    return [each.unit for each in (a * b, 2 * a, a.sum(), a.exp())], (a * b).tolist()


@program
def own_functions(T):
    o = overrides(T)

    @o.wrap_torch_function(lambda value: (value,))
    def plus_zero(value):
        return value + 0

    class Taker:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "taken", func.__name__, types[0].__name__, len(args)

    taker = Taker()
    return [
        plus_zero(taker), plus_zero(1), o.has_torch_function((taker,)), o.has_torch_function((1,)),
        o.has_torch_function_unary(T.ones(1)), o.has_torch_function_variadic(1, taker),
        o.handle_torch_function(T.add, (taker,), taker, 2), o.is_tensor_like(taker), o.is_tensor_like(1),
        o.is_tensor_like(T.ones(1)),
    ]  # fmt: skip


@program
def names_and_tables(T):
    o = overrides(T)
    functions = [
        T.add, T.Tensor.add, T.nn.functional.relu, T.Tensor.shape.__get__, T.Tensor.grad.__set__, T.fft.fft,
        T.Tensor.__add__, T.Tensor.__getitem__, T.ops.aten.add.Tensor, T.ops.aten.add, print,
    ]  # fmt: skip
    overridable, testing = o.get_overridable_functions(), o.get_testing_overrides()
    ignored = o.get_ignored_functions()
    return [
        [o.resolve_name(each) for each in functions],
        [o.is_tensor_method_or_property(each) for each in functions[:4]],
        T.add in overridable[T], T.Tensor.add in overridable[T.Tensor],
        T.nn.functional.relu in overridable[T.nn.functional],
        testing[T.add](1, 2), str(inspect.signature(testing[T.nn.functional.relu])),
        [each in ignored for each in (T.is_tensor, T.manual_seed, T.from_numpy, T.add, T.Tensor.as_subclass)],
    ]  # fmt: skip


@program
def devices_are_modes_too(T):
    with T.device("meta"):
        facts = [str(each.device) for each in (T.ones(2), T.tensor([1.0]), T.zeros(2, device="cpu"), T.arange(2))]
        facts.append(str(T.nn.Linear(2, 2).weight.device))
    T.set_default_device("meta")
    facts.append(str(T.ones(1).device))
    T.set_default_device(None)
    return facts, str(T.ones(1).device)
