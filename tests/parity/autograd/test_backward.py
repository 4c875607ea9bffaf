"""Backward passes, hooks and saved tensors behave as in PyTorch, to the text of every error."""

import threading
import warnings

import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


# -------------------- backward --------------------


@program
def simple(T):
    x = sample(T, 3)
    (x * x).exp().sum().backward()
    return x.grad


@program
def broadcast_gradients_are_summed(T):
    x, y, z = sample(T, 3), sample(T, 4, 1, 3), sample(T, 2, 1)
    (x * y * z).sum().backward()
    return x.grad, y.grad, z.grad


@program
def gradient_is_cast(T):
    x = sample(T, 3)
    y = x.to(T.float64)
    (y * y).sum().backward()
    return x.grad, y.grad_fn


@program
def complex_to_real(T):
    x = sample(T, 3)
    z = x * (1 + 2j)
    (z * z.conj()).real.sum().backward()
    return x.grad


@program
def several_outputs(T):
    x = sample(T, 3, 2)
    largest, where = x.max(0)
    rows = x.unbind()
    (largest.sum() + rows[1].sum()).backward()
    return where.requires_grad, x.grad, rows[1].output_nr, rows[1].grad_fn


@program
def retain_graph_accumulates_in_place(T):
    x = sample(T, 3)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    first = x.grad
    y.backward()
    return x.grad, first is x.grad


@program
def nothing_saved_means_backward_twice(T):
    x = sample(T, 3)
    y = (x + x).sum()
    y.backward()
    y.backward()
    return x.grad


@program
def create_graph(T):
    x = sample(T, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of the cycle once in a process
        (x * x * x).sum().backward(create_graph=True)
    return x.grad, x.grad.grad_fn


@program
def third_derivative(T):
    x = sample(T, 3)
    first = T.autograd.grad((x * x * x).sum(), x, create_graph=True)[0]
    second = T.autograd.grad(first.sum(), x, create_graph=True)[0]
    return first, second, T.autograd.grad(second.sum(), x)


@program
def backward_with_inputs(T):
    x, y, seen = sample(T, 3), sample(T, 3, seed=3), []
    y.register_hook(lambda grad: seen.append(1))
    z = x * y
    (z * 2).sum().backward(inputs=[x, z])
    return x.grad, y.grad, z.grad, seen


@program
def gradients_are_not_aliased(T):
    x, y, grad = sample(T, 3), sample(T, 3), T.ones(3)
    (x + y).backward(grad)
    return x.grad.data_ptr() == y.grad.data_ptr(), x.grad is grad, x.grad, y.grad


@program
def starting_gradient_is_cast(T):
    x = sample(T, 3)
    x.backward(T.ones(3, dtype=T.float64))
    return x.grad


@program
def order_of_hooks(T):
    seen = []
    x, y = sample(T, 3), sample(T, 3)
    x.register_hook(lambda grad: seen.append("x"))
    y.register_hook(lambda grad: seen.append("y"))
    values = [x * y, x.exp(), y.exp()]
    for name, value in zip("abc", values):
        value.register_hook(lambda grad, name=name: seen.append(name))
    (values[0] + values[1] * values[2]).sum().backward()
    return seen


@program
def no_grad_modes_leak(T):
    x, seen = sample(T, 3), []
    y = x * 2
    y.register_hook(lambda grad: seen.append(T.is_grad_enabled()))
    y.sum().backward(retain_graph=True)
    T.autograd.grad(y.sum(), x, create_graph=True)
    return seen, T.is_grad_enabled()


@program
def grad_mode_belongs_to_a_thread(T):
    x, seen = sample(T, 3), []

    def work():
        seen.append(T.is_grad_enabled())
        (x * x).sum().backward()

    with T.no_grad():
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return seen, x.grad


@program
def backward_in_a_hook(T):
    x, seen = sample(T, 3), []

    def hook(grad):
        with T.enable_grad():
            inner = x.detach().requires_grad_()
            (inner * inner).sum().backward()
            seen.append(inner.grad)

    y = x * 2
    y.register_hook(hook)
    (y * y).sum().backward()
    return x.grad, seen, T.is_grad_enabled()


@program
def an_exception_leaves_nothing_behind(T):
    x = sample(T, 3)
    y = x * 2

    def fail(grad):
        raise ValueError("from the hook")

    handle = y.register_hook(fail)
    try:
        y.sum().backward()
    except ValueError as error:
        text = str(error)
    handle.remove()
    (y * 1).sum().backward()
    return text, T.is_grad_enabled(), x.grad


@program
def callback_at_the_end(T):
    x, seen = sample(T, 3), []
    engine = T.Tensor._execution_engine if hasattr(T.Tensor, "_execution_engine") else None
    engine = engine or T.autograd.Variable._execution_engine
    x.register_hook(lambda grad: engine.queue_callback(lambda: seen.append("callback")))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("leaf"))
    (x * 2).sum().backward()
    return seen


# -------------------- misuse --------------------

MISUSES = {
    "not a scalar": lambda T: (sample(T, 3) * 2).backward(),
    "no grad": lambda T: T.ones(3).backward(),
    "second has no grad": lambda T: T.autograd.backward([sample(T, 3).sum(), T.ones(())]),
    "shape": lambda T: (sample(T, 3) * 2).backward(T.ones(2)),
    "number of gradients": lambda T: T.autograd.backward([sample(T, 3) * 2, sample(T, 3)], [T.ones(3)]),
    "type of gradient": lambda T: T.autograd.backward([sample(T, 3).sum()], [3]),
    "complex gradient": lambda T: (sample(T, 3) * 2).backward(T.ones(3, dtype=T.complex64)),
    "complex scalar": lambda T: (sample(T, 2) * 1j).sum().backward(),
    "both names": lambda T: T.autograd.backward(sample(T, 3).sum(), T.ones(()), grad_variables=T.ones(())),
    "no inputs": lambda T: sample(T, 3).sum().backward(inputs=[]),
    "input without grad": lambda T: sample(T, 3).sum().backward(inputs=[T.ones(3)]),
    "backward of an int": lambda T: T.autograd.backward(3),
    "backward of ints": lambda T: T.autograd.backward([3]),
    "grad of no inputs": lambda T: T.autograd.grad(sample(T, 3).sum(), []),
    "grad of an int": lambda T: T.autograd.grad(sample(T, 3).sum(), 3),
    "grad of ints": lambda T: T.autograd.grad(sample(T, 3).sum(), [3]),
    "grad without grad": lambda T: T.autograd.grad(sample(T, 3).sum(), T.ones(3)),
    "unused": lambda T: T.autograd.grad(sample(T, 3).sum(), [sample(T, 3)]),
    "hook without grad": lambda T: T.ones(3).register_hook(print),
    "post hook without grad": lambda T: T.ones(3).register_post_accumulate_grad_hook(print),
    "post hook on a non-leaf": lambda T: (sample(T, 3) * 2).register_post_accumulate_grad_hook(print),
    "retain without grad": lambda T: T.ones(3).retain_grad(),
    "edge without grad": lambda T: T.autograd.graph.get_gradient_edge(T.ones(1)),
    "multi hook without grad": lambda T: T.autograd.graph.register_multi_grad_hook((T.ones(1),), print),
    "multi hook mode": lambda T: T.autograd.graph.register_multi_grad_hook((sample(T, 1),), print, mode="x"),
    "flag of a non-leaf": lambda T: (sample(T, 3) * 2).requires_grad_(False),
    "flag of integers": lambda T: T.ones(3, dtype=T.int64).requires_grad_(),
    "flag is no bool": lambda T: T.ones(3).requires_grad_(1),
    "out": lambda T: T.mul(sample(T, 3), 2, out=T.ones(3)),
    "grad of a non-leaf": lambda T: (sample(T, 3) * 2).grad,
    "grad of another shape": lambda T: setattr(sample(T, 3), "grad", T.ones(2)),
    "grad of another dtype": lambda T: setattr(sample(T, 3), "grad", T.ones(3, dtype=T.float64)),
    "grad is no tensor": lambda T: setattr(sample(T, 3), "grad", 3),
    "delete data": lambda T: delattr(sample(T, 3), "data"),
    "delete flag": lambda T: delattr(sample(T, 3), "requires_grad"),
    "delete hooks": lambda T: delattr(sample(T, 3), "_backward_hooks"),
    "data of another kind": lambda T: setattr(sample(T, 3), "data", T.ones(3, dtype=T.int64)),
    "data is no tensor": lambda T: setattr(sample(T, 3), "data", 3),
    "node without gradients": lambda T: (sample(T, 3) * 2).grad_fn(),
    "node with too many gradients": lambda T: (sample(T, 3) * 2).grad_fn(T.ones(3), None),
    "node with a number": lambda T: (sample(T, 3) * 2).grad_fn(2.0),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(name):
    assert_same(MISUSES[name])


@program
def hooks_on_freed_saved_tensors(T):
    x = sample(T, 3)
    y = x * x
    y.sum().backward()
    y.grad_fn._raw_saved_self.register_hooks(lambda tensor: tensor, lambda packed: packed)


@program
def backward_twice(T):
    y = (sample(T, 3) * sample(T, 3)).sum()
    y.backward()
    y.backward()


# -------------------- grad --------------------


@program
def unused_inputs(T):
    x, other = sample(T, 3), sample(T, 3)
    loss = (x * x).sum()
    return (
        T.autograd.grad(loss, [x, other * 2], allow_unused=True, retain_graph=True),
        T.autograd.grad(loss, [x, other], materialize_grads=True, retain_graph=True),
        T.autograd.grad(loss, [x, other], materialize_grads=True, create_graph=True),
        T.autograd.grad(loss, {"x": x}),
    )


@program
def materialize_without_unused(T):
    x = sample(T, 3)
    T.autograd.grad(x.sum(), x, materialize_grads=True, allow_unused=False)


@program
def only_what_is_asked_for(T):
    x, y = sample(T, 3), sample(T, 3, seed=2)
    z = x.exp() * y.sin()
    z.retain_grad()
    first = T.autograd.grad(z.sum(), [y], retain_graph=True)
    return first, T.autograd.grad(z.sum(), [x, z]), z.grad, x.grad


@program
def an_output_as_input(T):
    y = sample(T, 3) * 2
    return T.autograd.grad(y, y, T.ones(3))


@program
def the_same_output_twice(T):
    x = sample(T, 3)
    y = x * 2
    return T.autograd.grad([y, y], x, [T.ones(3)] * 2)


@program
def a_batch_of_gradients(T):
    x = sample(T, 3)
    return T.autograd.grad(x * 2, x, T.eye(3), is_grads_batched=True)


@program
def gradient_edges(T):
    x = sample(T, 3)
    y = x * 2
    edge = T.autograd.graph.get_gradient_edge(y)
    return edge, T.autograd.grad((y * 3).sum(), edge, retain_graph=True), T.autograd.grad(edge, x, T.ones(3))


# -------------------- hooks --------------------


@program
def hooks_of_a_leaf(T):
    x, seen = sample(T, 3), []
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    x.register_hook(lambda grad: (seen.append("tensor"), grad * 2)[1])
    node.register_prehook(lambda grads: (seen.append("before"), (grads[0] * 3,))[1])
    node.register_hook(lambda results, grads: seen.append(("after", results, grads)))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("stored", leaf.grad)))
    y.sum().backward()
    return seen


@program
def hooks_of_a_node(T):
    x, seen = sample(T, 3), []
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: seen.append("before"))
    y.grad_fn.register_hook(lambda results, grads: seen.append("after"))
    y.register_hook(lambda grad: (seen.append("first"), grad * 5)[1])
    y.retain_grad()
    y.register_hook(lambda grad: (seen.append("second"), grad * 5)[1])
    y.sum().backward()
    return seen, y.grad, x.grad


@program
def hooks_after_an_in_place_op(T):
    x, seen = sample(T, 3), []
    y = x * 2
    y.register_hook(lambda grad: seen.append(("old", grad)))
    y.retain_grad()
    y.mul_(3)
    seen.append(y._backward_hooks)
    y.register_hook(lambda grad: seen.append(("new", grad)))
    y.sum().backward()
    return seen, y.grad


@program
def hooks_of_a_written_view(T):
    x, seen = sample(T, 3), []
    y = x * 2
    view = y[:2]
    view.register_hook(lambda grad: seen.append("old view"))
    view.retain_grad()
    y.register_hook(lambda grad: seen.append(("old base", grad)))
    y.retain_grad()
    view.mul_(3)
    view.register_hook(lambda grad: seen.append(("new view", grad)))
    (y.sum() + view.sum()).backward()
    return seen, y.grad, view.grad


@program
def hooks_and_captured_gradients(T):
    x = sample(T, 3)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    z = (y * 3).sum()
    both = T.autograd.grad(z, [y, x], retain_graph=True)
    return both, T.autograd.grad(z, [y]), y.grad


@program
def removed_hooks(T):
    x, seen = sample(T, 2), []
    with x.register_hook(lambda grad: seen.append(1)):
        x.sum().backward()
    handle = x.register_hook(lambda grad: seen.append(2))
    handle.remove()
    handle.remove()
    x.sum().backward()
    return seen, x.grad


RESULTS = {
    "an int": lambda T: 3,
    "another shape": lambda T: T.ones(2),
    "another dtype": lambda T: T.ones(3, dtype=T.float64),
    "a gradient": lambda T: T.ones(3),
    "nothing": lambda T: None,
}


@pytest.mark.parametrize("result", RESULTS)
def test_what_tensor_hooks_may_return(result):
    def run(T):
        x = sample(T, 3)
        y = x * 2
        y.register_hook(lambda grad: RESULTS[result](T))
        y.sum().backward()
        return x.grad

    assert_same(run)


@pytest.mark.parametrize("register", ["register_prehook", "register_hook"])
@pytest.mark.parametrize("wrapping", [lambda r: r, lambda r: (r,), lambda r: (r, None), lambda r: ()])
@pytest.mark.parametrize("result", RESULTS)
def test_what_node_hooks_may_return(result, wrapping, register):
    def run(T):
        x, seen = sample(T, 3), []
        y = x * 2
        getattr(y.grad_fn, register)(lambda *grads: (seen.append(grads), wrapping(RESULTS[result](T)))[1])
        y.sum().backward()
        return x.grad, seen

    assert_same(run)


@pytest.mark.parametrize("mode", ["all", "any"])
def test_multi_grad_hooks(mode):
    def run(T):
        x, y, seen = sample(T, 2), sample(T, 2, seed=1), []
        z = x * y
        T.autograd.graph.register_multi_grad_hook((x, y, z), seen.append, mode=mode)
        loss = (z * x).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        (x * 2).sum().backward()
        return seen

    assert_same(run)


@pytest.mark.parametrize("mode", ["all", "any"])
def test_multi_grad_hooks_on_outputs_of_one_node(mode):
    def run(T):
        x, seen = sample(T, 2, 3), []
        first, second = x.unbind()
        T.autograd.graph.register_multi_grad_hook((first, second), seen.append, mode=mode)
        (first * 2).sum().backward(retain_graph=True)
        (first * second).sum().backward(retain_graph=True)
        T.autograd.grad((first * second).sum(), first, retain_graph=True)
        return seen

    assert_same(run)


@program
def multi_grad_hooks_leave_out_constants(T):
    x, seen = sample(T, 2), []
    T.autograd.graph.register_multi_grad_hook((T.ones(2), x), seen.append, mode="any")
    (x * 2).sum().backward()
    return seen


@program
def node_hooks_see_gradients_that_fit(T):
    x, y, seen = sample(T, 3), sample(T, 2, 1, dtype=T.float64), []
    z = x * y
    z.grad_fn.register_hook(lambda results, grads: seen.append(results))
    z.sum().backward()
    return seen


@program
def leaf_hooks_without_a_gradient(T):
    class Nothing(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x, seen = sample(T, 3), []
    x.register_hook(lambda grad: seen.append(grad))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    y = Nothing.apply(x)
    y.sum().backward(retain_graph=True)
    z = (x * 2).sum()
    x.requires_grad_(False)
    z.backward()
    return seen


LAYOUTS = {
    "row-major": lambda w: w,
    "turned": lambda w: w.t().contiguous().t(),
    "expanded": lambda w: w[:1].expand(w.shape),
    "expanded in all dimensions": lambda w: w[0, 0].expand(w.shape),
}


@pytest.mark.parametrize("size", [3, 30])
@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_layout_of_a_sum_of_gradients(first, second, size):
    def run(T):
        x, w = sample(T, 2, size), sample(T, 2, size, requires_grad=False)
        y, seen = x * 1, []
        y.register_hook(lambda grad: seen.append(grad.stride()))
        parts = [y * LAYOUTS[layout](w) for layout in (first, second, first)]
        sum(part.sum() for part in parts).backward()
        return seen, x.grad

    assert_same(run)


# -------------------- nodes and saved tensors --------------------


@program
def nodes(T):
    x = sample(T, 3)
    node = (x * 2).grad_fn
    leaf = node.next_functions[0][0]
    node.metadata["note"] = 1
    return (
        leaf.variable is x, node, leaf, node.name(), leaf.name(), node.next_functions, node.metadata,
        isinstance(node, T.autograd.graph.Node), isinstance(leaf, T.autograd.graph.Node), node.requires_grad,
        node._input_metadata[0].shape, node._input_metadata[0].dtype, node(T.ones(3)),
    )  # fmt: skip


@program
def saved_values(T):
    x, y = sample(T, 3), sample(T, 3)
    product, scaled = x * y, x * 2
    return (
        product.grad_fn._saved_self is x, product.grad_fn._saved_other is y, scaled.grad_fn._saved_other,
        scaled.grad_fn._saved_self, x.exp().grad_fn._saved_result,
    )  # fmt: skip


@program
def saved_value_after_backward(T):
    y = sample(T, 3) * sample(T, 3)
    node = y.grad_fn
    y.sum().backward()
    return node._saved_self


@program
def hooks_on_a_saved_tensor(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    pack = lambda tensor: (seen.append(tensor.requires_grad), tensor * 1)[1]
    y.grad_fn._raw_saved_result.register_hooks(pack, lambda packed: (seen.append("unpack"), packed * 2)[1])
    grad = T.autograd.grad(y.sum(), x, create_graph=True)[0]
    grad.sum().backward()
    return grad.grad_fn.next_functions, x.grad, seen


@program
def hooks_on_a_saved_tensor_twice(T):
    y = sample(T, 3) * sample(T, 3)
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda tensor: tensor, lambda tensor: tensor)
    raw.register_hooks(lambda tensor: tensor, lambda tensor: tensor)


@program
def hooks_on_nothing(T):
    y = sample(T, 3) * T.ones(3)
    y.grad_fn._raw_saved_self.register_hooks(lambda tensor: tensor, lambda tensor: tensor)


@program
def default_hooks(T):
    x, seen = sample(T, 3), []
    pack = lambda tensor: (seen.append((tensor is x, T.is_grad_enabled())), tensor * 2)[1]
    unpack = lambda packed: (seen.append(T.is_grad_enabled()), packed)[1]
    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp() * 2
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return seen, x.grad


@program
def default_hooks_and_second_derivatives(T):
    x = sample(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor * 1, lambda packed: packed):
        y = (x * x).exp()
    first = T.autograd.grad(y.sum(), x, create_graph=True)[0]
    return first, T.autograd.grad(first.sum(), x)


PACKS = {
    "writes a detached tensor": (lambda T, tensor: tensor.detach().add_(1), lambda packed: packed),
    "writes data": (lambda T, tensor: tensor.data.add_(1), lambda packed: packed),
    "unpacks an int": (lambda T, tensor: tensor, lambda packed: 3),
    "unpacks None": (lambda T, tensor: None, lambda packed: None),
}


@pytest.mark.parametrize("name", PACKS)
def test_what_pack_hooks_may_do(name):
    pack, unpack = PACKS[name]

    def run(T):
        x = sample(T, 3)
        with T.autograd.graph.saved_tensors_hooks(lambda tensor: pack(T, tensor), unpack):
            y = x * x
        y.sum().backward()
        return x.grad

    assert_same(run)


@program
def disabled_hooks(T):
    with T.autograd.graph.disable_saved_tensors_hooks("not here"):
        with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda packed: packed):
            pass


# -------------------- anomaly mode --------------------


@program
def anomaly_finds_nan(T):
    with T.autograd.detect_anomaly(check_nan=False):
        (sample(T, 3) * 0 - 1).sqrt().sum().backward()
    y = (sample(T, 3) * 0 - 1).sqrt().sum()
    with T.autograd.detect_anomaly():
        y.backward()


@program
def set_detect_anomaly(T):
    x = sample(T, 3)
    with T.autograd.set_detect_anomaly(True):
        (x * x).sum().backward()
    return x.grad, T.is_anomaly_enabled() if hasattr(T, "is_anomaly_enabled") else False


# -------------------- gradients at the edges --------------------


def _gradients(T, result, *leaves):
    return T.autograd.grad(result, leaves, T.ones(result.shape, dtype=result.dtype))


@program
def padding_of_an_empty_half_precision_batch(T):
    x = T.zeros(0, 3, 3, dtype=T.bfloat16, requires_grad=True)
    return [_gradients(T, T.nn.functional.pad(x, (1, 2), mode), x) for mode in ("reflect", "replicate")]


@program
def sampled_product_of_nothing(T):
    first, second = T.zeros(0, 0, requires_grad=True), T.zeros(0, 0, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = T.zeros(0, 0).to_sparse_csr().requires_grad_()
        return [each.shape for each in _gradients(T, T.sparse.sampled_addmm(x, first, second), x, first, second)]


@program
def determinant_of_an_empty_matrix(T):
    x = T.zeros(0, 0, requires_grad=True)
    (found,) = T.autograd.grad(T.linalg.det(x), x, create_graph=True)
    return found, found.requires_grad


@program
def gradient_of_the_gradient_of_a_bag(T):
    table = T.arange(6.0).reshape(3, 2).requires_grad_()
    bags = T.nn.functional.embedding_bag(T.tensor([[0, 2]]), table, mode="sum")
    (found,) = T.autograd.grad(bags, table, T.ones(1, 2, requires_grad=True), create_graph=True)
    found.sum().backward()


@program
def leaves_that_are_not_written(T):
    """The refusal comes before what else is wrong with the call."""
    T.ones((), requires_grad=True).addr_(T.ones(5), T.ones(10))


@program
def a_real_leaf_is_not_conjugated_in_place(T):
    T.ones(2, requires_grad=True).conj_physical_()
