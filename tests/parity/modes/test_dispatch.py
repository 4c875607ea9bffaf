"""`TorchDispatchMode` and tensor classes with `__torch_dispatch__` see and do what they see and do in torch."""

from importlib import import_module

import pytest

from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def mode_class(T):
    return import_module(f"{T.__name__}.utils._python_dispatch").TorchDispatchMode


def tree_map(T, function, tree):
    return import_module(f"{T.__name__}.utils._pytree").tree_map(function, tree)


def logging_mode(T, seen):
    """A mode that writes down ops and arguments: shapes of tensors, everything else as it is."""

    class Logging(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            shown = tree_map(T, lambda value: list(value.shape) if isinstance(value, T.Tensor) else value, args)
            options = tree_map(T, lambda value: list(value.shape) if isinstance(value, T.Tensor) else value, kwargs)
            seen.append(f"{func} {types} {list(shown)} {options}")
            return func(*args, **(kwargs or {}))

    return Logging()


def wrapper_class(T, seen):
    """A class of tensors that hold another tensor, and write down what is done with them."""

    class Wrapper(T.Tensor):
        __slots__ = ["elem"]

        @staticmethod
        def __new__(cls, elem, requires_grad=False):
            tensor = T.Tensor._make_wrapper_subclass(
                cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
                layout=elem.layout, device=elem.device, requires_grad=requires_grad,
            )  # fmt: skip
            tensor.elem = elem.detach() if tensor.requires_grad else elem
            return tensor

        def __repr__(self):
            return f"Wrapper({self.elem})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            unwrapped = tree_map(T, lambda each: each.elem if isinstance(each, Wrapper) else each, args)
            options = tree_map(T, lambda each: each.elem if isinstance(each, Wrapper) else each, kwargs or {})
            result = func(*unwrapped, **options)
            seen.append(f"{func} {[each.__name__ for each in types]}")
            return tree_map(T, lambda each: Wrapper(each) if isinstance(each, T.Tensor) else each, result)

    return Wrapper


# -------------------- which calls a mode sees, and how --------------------

CALLS = [
    "x + 1", "1 + x", "x + x", "x - x", "1 - x", "2 * x", "x / 2", "x > 0", "x == x", "x ** 2", "-x", "x @ x.T",
    "x.add(x, alpha=2)", "T.add(x, 2, alpha=3)", "x.sum()", "x.sum(0)", "x.sum(dim=(0, 1), keepdim=True)",
    "x.sum(0, dtype=T.float64)", "x.mean()", "x.mean(1)", "x.max()", "x.max(0)", "x.argmax()", "x.sort()",
    "x.topk(2)", "x.cumsum(1)", "x.var(0)", "x.norm()", "x.clamp(0, 1)", "x.clamp(min=0)", "x.exp()", "x.sigmoid()",
    "x[0]", "x[0, 1:2]", "x[:, None]", "x[..., 0]", "x[x > 0]", "x[T.tensor([0, 1])]", "x[0].item()", "x.T", "x.t()",
    "x.view(-1)", "x.reshape(6)", "x.transpose(0, 1)", "x.permute(1, 0)", "x.expand(4, 2, 3)", "x.unsqueeze(0)",
    "x.squeeze()", "x.flatten()", "x.unbind()", "x.split(1)", "x.chunk(2)", "x.repeat(2, 1)", "x.detach()", "x.data",
    "x.clone()", "x.contiguous()", "x.double()", "x.to(T.float64)", "x.bool()", "x.cpu()", "x.tolist()",
    "x.numpy(force=True)", "T.cat([x, x])", "T.cat([x, x], dim=1)", "T.stack([x, x])", "T.where(x > 0, x, x)",
    "T.zeros(2)", "T.ones(2, 3, dtype=T.float64)", "T.full((2,), 3)", "T.arange(3)", "T.arange(0, 3, 2)", "T.eye(2)",
    "T.linspace(0, 1, 3)", "T.rand(2)", "T.randn(2, 2)", "T.randint(3, (2,))", "T.randperm(3)", "T.empty(2)",
    "T.empty_strided((2,), (1,))", "T.zeros(2, requires_grad=True)", "T.ones_like(x)",
    "T.zeros_like(x, dtype=T.float64)", "T.randn_like(x)", "T.full_like(x, 2)", "x.new_zeros(2)", "x.new_ones(2, 3)",
    "x.new_full((2,), 1.5)", "T.tensor(3)", "T.tensor([1.0, 2.0])", "T.as_tensor([1])", "x.detach().add_(1)",
    "x.detach().zero_()", "x.detach().fill_(2)", "x.detach().mul_(2).t_()", "x.detach().uniform_(0, 1)",
    "T.add(x.detach(), 1, out=T.empty(2, 3))", "T.exp(x.detach(), out=T.empty(2, 3))",
    "T.nn.functional.relu(x)", "T.nn.functional.gelu(x)", "T.nn.functional.linear(x, x)",
    "T.nn.functional.softmax(x, 0)", "T.nn.functional.layer_norm(x, (3,))", "T.nn.functional.pad(x, (1, 1))",
    "T.nn.functional.embedding(T.tensor([0, 1]), x)", "T.einsum('ij,kj->ik', x, x)", "T.ops.aten.add.Tensor(x, x)",
    "T.outer(x[0], x[0])", "T.matmul(x, x[0])", "T.bmm(x[None], x[None].mT)", "T.addmm(x, x @ x.T, x)",
    "x.masked_fill(x > 0, 1)", "x.index_select(0, T.tensor([0]))", "x.gather(0, T.tensor([[0, 1, 0]]))",
    "x.scatter(0, T.tensor([[0]]), 1.0)", "T.tril(x)", "T.nn.functional.cross_entropy(x, T.tensor([0, 1]))",
    "(x * 2).sum().backward()", "x.exp().sum().backward()",
    "T.autograd.grad((x * x).sum(), x)", "x.requires_grad_()", "x.is_contiguous()", "x.shape",
]  # fmt: skip


def seen_of(T, call):
    seen = []
    x = T.tensor([[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]], requires_grad=True)
    with logging_mode(T, seen):
        eval(call, {"T": T, "x": x})
    # torch names a class for the tensors that it saves, though no class takes over
    return [line.replace("(<class 'torch.Tensor'>,)", "()") for line in seen]


@pytest.mark.parametrize("call", CALLS)
def test_seen_calls(call):
    assert_same(lambda T: seen_of(T, call))


# -------------------- what a mode may do --------------------


@program
def a_mode_rewrites_calls(T):
    class Rewriting(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            func = T.ops.aten.mul.Tensor if func is T.ops.aten.add.Tensor else func
            return func(*args, **(kwargs or {}))

    x = T.tensor([2.0, 3.0], requires_grad=True)
    with Rewriting():
        y = x + x
    y.sum().backward()
    return y, y.grad_fn.name(), x.grad


@program
def a_mode_replaces_results(T):
    class Replacing(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result + 100 if func is T.ops.aten.mul.Tensor else result

    x = T.ones(2, requires_grad=True)
    with Replacing():
        y = x * 2
    return y, y.grad_fn.name(), y._version


@program
def flop_counter(T):
    class Counter(mode_class(T)):
        count = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func.overloadpacket in (T.ops.aten.mm, T.ops.aten.addmm):
                self.count += 2 * args[-2].numel() * args[-1].shape[-1]
            return result

    net = T.nn.Sequential(T.nn.Linear(4, 8), T.nn.ReLU(), T.nn.Linear(8, 2))
    with Counter() as counter:
        loss = net(T.ones(5, 4)).sum()
        forward = counter.count
        loss.backward()
    return forward, counter.count


@program
def dtype_checker(T):
    found = set()

    class Checker(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if isinstance(result, T.Tensor):
                found.add(str(result.dtype))
            return result

    with Checker():
        (T.ones(2).double() + T.ones(2, dtype=T.int64)).to(T.float16)
    return sorted(found)


@program
def nested_modes(T):
    seen = []

    class Named(mode_class(T)):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(f"{self.name} {func}")
            return func(*args, **(kwargs or {}))

    with Named("outer"):
        with Named("inner"):
            T.ones(2) + 1
        T.ones(2) * 2
    twice = Named("twice")
    with twice, twice:
        T.ones(2).exp()
    T.ones(2)
    return seen


@program
def modes_that_fail(T):
    class Raising(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise ValueError("no")

    class Declining(mode_class(T)):
        def __repr__(self):
            return "Declining()"

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    class Empty(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return None

    outcomes = []
    for kind in (Raising, Declining, Empty, mode_class(T)):
        try:
            with kind():
                outcomes.append(repr(T.ones(2)))
        except (ValueError, TypeError, NotImplementedError) as error:
            outcomes.append(f"{type(error).__name__} {error}")
    return outcomes, T.ones(2)


@program
def in_place_and_views(T):
    seen = []
    x, leaf = T.zeros(3), T.ones(3, requires_grad=True)
    with logging_mode(T, seen):
        facts = [x.add_(1) is x, x._version]
        y = (leaf * 2).mul_(3)
        facts += [y.grad_fn.name(), y._version]
        view = x.view(3, 1)
        facts += [view._base is x, view._version, view.zero_() is view, x._version]
        twin = y.detach()
        facts += [twin._version, T.ones(2, 3).t_().shape]
        y.sum().backward()
    try:
        with logging_mode(T, seen):
            leaf.add_(1)
    except RuntimeError as error:
        facts.append(str(error))
    return facts, x, leaf.grad, leaf.is_leaf


@program
def below_autograd(T):
    facts = []

    class Looking(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            facts.append((str(func), [each.requires_grad for each in args if isinstance(each, T.Tensor)]))
            facts.append((result.requires_grad, result.grad_fn is None))
            return result

    x = T.ones(2, requires_grad=True)
    with Looking():
        results = [x * 2, (x * 2).exp(), x[0]]
        with T.no_grad():
            results.append(x * 3)
        with T.inference_mode():
            facts.append((x * 4).is_inference())
    return facts, results


@program
def tensors_keep_their_identity(T):
    seen = []

    class Keeping(mode_class(T)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            seen.append((args, result))
            return result

    a, b = T.ones(2), T.ones(2)
    with Keeping():
        c = a + b
        d = c[0]
    (args, sums), (_, picked) = seen
    return args[0] is a, args[1] is b, sums is c, picked is d


@program
def custom_ops_are_seen(T):
    seen = []

    @T.library.custom_op("modeslib::twice", mutates_args=())
    def twice(x: T.Tensor) -> T.Tensor:
        return x.clone() * 2

    twice.register_autograd(lambda ctx, grad: grad * 2)
    x = T.ones(2, requires_grad=True)
    with logging_mode(T, seen):
        twice(x).sum()
    return seen, x.grad


# -------------------- classes --------------------


@program
def a_logging_tensor(T):
    seen = []
    Wrapper = wrapper_class(T, seen)
    x = Wrapper(T.tensor([3.0]), requires_grad=True)
    y = x * x
    facts = [type(y).__name__, y.requires_grad, y.grad_fn.name(), repr(y)]
    (grad,) = T.autograd.grad(y, x, Wrapper(T.tensor([1.0])))
    z = (x.exp() * 2).sum()
    z.backward()
    facts += [repr(grad), type(x.grad).__name__, repr(x.grad), z.item()]
    return facts, (x.shape, x.dtype, x.device, x.stride(), x.is_leaf), seen


@program
def views_and_writes_of_a_wrapper(T):
    seen = []
    Wrapper = wrapper_class(T, seen)
    x = Wrapper(T.arange(6.0).reshape(2, 3))
    view = x[0]
    facts = [type(view).__name__, view._is_view(), view._base is x]
    view.add_(1)
    facts += [repr(x), x._version]
    first, _ = x.split(1)
    values, indices = x.max(0)
    facts += [repr(first), repr(values), repr(indices), repr(x.detach()), repr(x.data), type(x.T).__name__]
    return facts, seen


WRAPPED = [
    "T.cat([x, x])", "x @ x.T", "T.nn.functional.linear(x, x)", "T.relu(x)", "x.to(T.float64)", "x.sum(0)", "x > 1",
    "T.where(x > 1, x, x)", "T.zeros_like(x)", "x.new_zeros(2)", "x == x", "x + T.ones(3)", "T.ones(3) + x", "2 * x",
    "x.clone()", "T.nn.functional.softmax(x, 1)", "x.reshape(-1)", "x.mean()", "T.exp(x)", "x.unbind()", "-x",
    "T.stack([x, x])", "T.einsum('ij->ji', x)", "x.tril()", "x.clamp(0, 1)", "x.expand(2, 2, 3)",
]  # fmt: skip


@pytest.mark.parametrize("call", WRAPPED)
def test_ops_of_a_wrapper(call):
    def run(T):
        seen = []
        x = wrapper_class(T, seen)(T.arange(6.0).reshape(2, 3))
        return repr(eval(call, {"T": T, "x": x})), seen

    assert_same(run)


@program
def a_mode_around_a_class(T):
    seen, seen_by_mode = [], []
    x = wrapper_class(T, seen)(T.ones(2))
    with logging_mode(T, seen_by_mode):
        result = repr(x + 1)
    return result, seen, [line.split(" (<class")[0] for line in seen_by_mode]


@program
def wrappers_that_cannot_be(T):
    class Plain(T.Tensor):
        pass

    class Declining(T.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    make = T.Tensor._make_wrapper_subclass
    wrapper = make(Declining, (2, 3))
    calls = [
        lambda: make(Plain, (2,)), lambda: make(int, (2,)), lambda: make(Declining, 2), lambda: wrapper.sum(),
        lambda: wrapper + 1, lambda: wrapper.add_(1), lambda: T.exp(wrapper), lambda: wrapper[0],
    ]  # fmt: skip
    errors = []
    for call in calls:
        try:
            call()
        except TypeError as error:
            errors.append(str(error))
    return errors, wrapper.shape, wrapper.stride(), wrapper.dtype, wrapper.device, wrapper.requires_grad
