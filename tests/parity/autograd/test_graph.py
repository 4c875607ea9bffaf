"""Nodes and edges look and behave as in PyTorch."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


@program
def walk(T):
    x, w = sample(T, 2, 3), sample(T, 3, 4)
    y = (x @ w).relu().sum(1)
    names, todo = [], [y.grad_fn]
    while todo:
        node = todo.pop(0)
        names.append((node.name(), [(each and each.name(), number) for each, number in node.next_functions]))
        todo += [each for each, _ in node.next_functions if each is not None]
    return names


NAMES = {
    "add": lambda x: x + x,
    "number": lambda x: x + 1,
    "rsub": lambda x: 1 - x,
    "rdiv": lambda x: 1 / x,
    "neg": lambda x: -x,
    "index": lambda x: x[0],
    "slice": lambda x: x[1:],
    "mask": lambda x: x[x > 0],
    "indices": lambda x: x[[0, 1]],
    "T": lambda x: x.T,
    "mean": lambda x: x.mean(),
    "mean of a dim": lambda x: x.mean(0),
    "max": lambda x: x.max(),
    "max of a dim": lambda x: x.max(0).values,
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.t().reshape(-1),
    "flatten": lambda x: x.flatten(),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "cat": lambda x: x.new_tensor([]).new_zeros(0).sum() + x.sum(),
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(0),
    "norm": lambda x: x.norm(),
    "std": lambda x: x.std(),
    "var": lambda x: x.var(0),
    "double": lambda x: x.double(),
    "clone": lambda x: x.clone(),
    "expand": lambda x: x.expand(4, 2, 3),
    "repeat": lambda x: x.repeat(2, 1),
    "cumsum": lambda x: x.cumsum(0),
    "sort": lambda x: x.sort().values,
    "topk": lambda x: x.topk(1).values,
    "gather": lambda x: x.gather(0, (x[:1] * 0).long()),
    "clamp": lambda x: x.clamp(0, 1),
    "abs": lambda x: x.abs(),
    "pow": lambda x: x**2,
    "pow of tensors": lambda x: x.abs() ** x,
    "where": lambda x: x.where(x > 0, x * 0),
    "matmul": lambda x: x @ x.t(),
    "vector": lambda x: x @ x[0],
    "dot": lambda x: x[0].dot(x[1]),
    "bmm": lambda x: x[None] @ x.t()[None],
    "diagonal": lambda x: x.diagonal(),
    "tril": lambda x: x.tril(),
    "roll": lambda x: x.roll(1),
    "flip": lambda x: x.flip(0),
    "in place": lambda x: x.mul(2).add_(1),
    "in place on a view": lambda x: (lambda y: (y[0].mul_(2), y)[1])(x * 1),
    "the view": lambda x: (lambda y: y[0].mul_(2))(x * 1),
    "copy_": lambda x: x.detach().clone().copy_(x),
    "zero_": lambda x: (x * 1).zero_(),
    "contiguous": lambda x: x.t().contiguous(),
    "complex": lambda x: (x * 1j).abs(),
    "unbind": lambda x: x.unbind()[1],
    "split": lambda x: x.split(1)[1],
    "chunk": lambda x: x.chunk(2)[0],
    "prod": lambda x: x.prod(),
    "logsumexp": lambda x: x.logsumexp(0),
    "sigmoid": lambda x: x.sigmoid(),
    "detach": lambda x: x.detach().requires_grad_() * x,
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    def run(T):
        y = NAMES[name](sample(T, 2, 3))
        node = y.grad_fn
        nexts = [(each and each.name(), number) for each, number in node.next_functions]
        return repr(node), node.name(), nexts, y.output_nr, type(node).__name__

    assert_same(run)


@program
def what_a_node_is(T):
    x = sample(T, 3)
    y = x.exp()
    node = y.grad_fn
    accumulator = node.next_functions[0][0]
    return (
        [isinstance(each, T.autograd.graph.Node) for each in (node, accumulator, y, 3)],
        issubclass(type(node), T.autograd.graph.Node),
        node is y.grad_fn,
        node == y.grad_fn,
        hash(node) == hash(y.grad_fn),
        node.requires_grad,
        node.metadata,
        accumulator.variable is x,
        y.grad_fn.next_functions[0][0] is accumulator,
    )


@program
def metadata(T):
    y = sample(T, 3).exp()
    y.grad_fn.metadata["note"] = [1]
    z = y.sin()
    return (
        z.grad_fn.next_functions[0][0].metadata,
        tried(lambda: y.grad_fn.nothing),
    )


@program
def sequence_numbers(T):
    x = sample(T, 3)
    first, second = x.exp(), x.sin()
    third = first * second
    accumulator = T.autograd.graph.get_gradient_edge(x).node
    numbers = [each.grad_fn._sequence_nr() for each in (first, second, third)]
    return [number - numbers[0] for number in numbers], accumulator._sequence_nr() > numbers[2]


@program
def set_sequence_number(T):
    x, seen = sample(T, 3), []
    a, b = x.exp(), x.sin()
    a.register_hook(lambda grad: seen.append("a"))
    b.register_hook(lambda grad: seen.append("b"))
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 10)
    (a + b).sum().backward()
    return sorted(seen), a.grad_fn._sequence_nr() - b.grad_fn._sequence_nr(), x.grad


@program
def input_metadata(T):
    x = sample(T, 2, 3)
    y = x.exp()
    values, _ = x.max(0)
    return (
        [(each.shape, str(each.dtype)) for each in y.grad_fn._input_metadata],
        [tuple(each.shape) for each in values.grad_fn._input_metadata][:1],
        [tuple(each.shape) for each in T.autograd.graph.get_gradient_edge(x).node._input_metadata],
    )


# -------------------- edges --------------------


@program
def gradient_edges(T):
    x = sample(T, 3, 2)
    y = x.exp()
    a, b, c = y.unbind()
    edge = T.autograd.graph.get_gradient_edge
    return (
        edge(x).node.name(),
        edge(x).output_nr,
        edge(c).output_nr,
        edge(c).node is a.grad_fn,
        edge(y)[:2] == (y.grad_fn, 0),
        len(edge(y)),
        tried(edge, T.ones(3)),
        type(edge(y)).__name__,
    )


@program
def gradients_of_edges(T):
    x = sample(T, 3)
    y = x.exp()
    z = y.sin()
    edge = T.autograd.graph.get_gradient_edge
    return (
        T.autograd.grad(z.sum(), edge(y), retain_graph=True),
        T.autograd.grad(edge(z), [edge(y), x], grad_outputs=T.ones(3), retain_graph=True),
        T.autograd.grad([edge(z)], [edge(x)], grad_outputs=[T.ones(3)], retain_graph=True),
        tried(T.autograd.grad, edge(z), x),
        tried(T.autograd.grad, edge(z), x, grad_outputs=T.ones(2)),
    )


@program
def backward_from_edges(T):
    x, w = sample(T, 3), sample(T, 3, seed=1)
    y = (x * w).sum()
    edge = T.autograd.graph.get_gradient_edge
    T.autograd.backward(edge(y), inputs=[x], retain_graph=True)
    T.autograd.backward([edge(y), edge(y)], [T.tensor(2.0), None], retain_graph=True)
    return x.grad, w.grad, tried(T.autograd.backward, y, inputs=[edge(x)], retain_graph=True), x.grad


@program
def edges_keep_the_graph(T):
    x = sample(T, 3)
    edge = T.autograd.graph.get_gradient_edge(x.exp())
    return T.autograd.grad(edge, x, T.ones(3))


@program
def edges_of_views(T):
    x = sample(T, 4)
    y = x * 1
    v = y[:2]
    first = T.autograd.graph.get_gradient_edge(v).node.name()
    y.mul_(2)
    return first, T.autograd.graph.get_gradient_edge(v).node.name(), T.autograd.graph.get_gradient_edge(y).node.name()


# -------------------- backward's arguments --------------------

ARGUMENTS = {
    "a list": lambda T, x, y: T.autograd.backward([y.sum(), (y * 2).sum()]),
    "a list and gradients": lambda T, x, y: T.autograd.backward([y, y.sum()], [T.ones(3), None]),
    "too many gradients": lambda T, x, y: T.autograd.backward([y], [T.ones(3), T.ones(3)]),
    "no inputs": lambda T, x, y: y.sum().backward(inputs=[]),
    "a tensor as inputs": lambda T, x, y: y.sum().backward(inputs=x),
    "a result as input": lambda T, x, y: y.sum().backward(inputs=[y]),
    "a constant as input": lambda T, x, y: y.sum().backward(inputs=[T.ones(3)]),
    "an unused input": lambda T, x, y: y.sum().backward(inputs=[sample(T, 2)]),
    "the output as input": lambda T, x, y: (lambda z: z.backward(inputs=[z]))(y.sum()),
    "a number as gradient": lambda T, x, y: y.backward(3.0),
    "integers": lambda T, x, y: y.backward(T.ones(3, dtype=T.int64)),
    "complex": lambda T, x, y: y.backward(T.ones(3, dtype=T.complex64)),
    "another shape": lambda T, x, y: y.backward(T.ones(1)),
    "requires grad": lambda T, x, y: y.backward(T.ones(3, requires_grad=True)),
    "nothing": lambda T, x, y: T.autograd.backward([]),
    "grad of nothing": lambda T, x, y: T.autograd.grad([], [x]),
    "grad with respect to nothing": lambda T, x, y: T.autograd.grad(y.sum(), []),
    "grad twice": lambda T, x, y: T.autograd.grad(y.sum(), [x, x]),
    "allow unused": lambda T, x, y: T.autograd.grad(y.sum(), [x, sample(T, 2)], allow_unused=True),
    "unused": lambda T, x, y: T.autograd.grad(y.sum(), [x, sample(T, 2)]),
    "materialize": lambda T, x, y: T.autograd.grad(y.sum(), [x, sample(T, 2)], materialize_grads=True),
    "a dict": lambda T, x, y: T.autograd.grad(y.sum(), {"x": x}),
    "backward and a dict": lambda T, x, y: y.sum().backward(inputs={"x": x}),
    "output is no tensor": lambda T, x, y: T.autograd.backward([3]),
    "a constant output": lambda T, x, y: T.autograd.backward([T.ones(())]),
    "create graph": lambda T, x, y: T.autograd.grad(y.sum(), x, create_graph=True)[0].grad_fn,
    "retain graph": lambda T, x, y: (y.sum().backward(retain_graph=True), y.sum().backward(), x.grad)[2],
    "not only inputs": lambda T, x, y: T.autograd.grad(y.sum(), x, only_inputs=False),
    "grad_variables": lambda T, x, y: T.autograd.backward(y, grad_variables=T.ones(3)),
    "both": lambda T, x, y: T.autograd.backward(y, T.ones(3), grad_variables=T.ones(3)),
    "batched": lambda T, x, y: T.autograd.grad(y, x, T.eye(3), is_grads_batched=True),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    def run(T):
        x = sample(T, 3)
        return tried(ARGUMENTS[name], T, x, x.exp()), x.grad

    assert_same(run)


# -------------------- what is in torch.autograd --------------------


@program
def variables(T):
    x = T.autograd.Variable(T.ones(3), requires_grad=True)
    return (
        x,
        type(x) is T.Tensor,
        isinstance(x, T.autograd.Variable),
        isinstance(T.ones(2), T.autograd.Variable),
        isinstance(3, T.autograd.Variable),
        T.autograd.variable.Variable is T.autograd.Variable,
        T.autograd.Variable(T.ones(2)).requires_grad,
    )


@program
def nested_io(T):
    class Swap(T.autograd.function.NestedIOFunction):
        pass

    return issubclass(Swap, T.autograd.Function), Swap.__name__, T.autograd.NestedIOFunction.__name__


@program
def callbacks(T):
    x, seen = sample(T, 3), []
    engine = T.autograd.Variable._execution_engine
    x.register_hook(lambda grad: engine.queue_callback(lambda: seen.append(x.grad.clone())))
    (x * x).sum().backward()
    return seen, tried(engine.queue_callback, lambda: None)
