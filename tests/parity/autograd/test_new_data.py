"""A leaf that is given another array between uses gets the gradient of all of them, as in PyTorch."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


def new_data(T, size, dtype=None):
    def change(leaf):
        leaf.data = T.zeros(size, dtype=dtype)

    return change


def in_place(T, name, *arguments):
    def change(leaf):
        with T.no_grad():
            getattr(leaf, name)(*arguments)

    return change


def frozen(T, change):
    def freeze_and_change(leaf):
        leaf.requires_grad_(False)
        change(leaf)
        leaf.requires_grad_()

    return freeze_and_change


def changes(T):
    """The shape of the leaf, and what happens to it between two uses."""
    return [
        ((2,), new_data(T, 2)),
        ((2,), new_data(T, 1)),
        ((2,), new_data(T, 3)),
        ((2,), new_data(T, (3, 2))),
        ((3, 2), new_data(T, 2)),
        ((), new_data(T, (2, 2))),
        ((2,), new_data(T, 2, T.float64)),
        ((2, 2), in_place(T, "t_")),
        ((2, 3), in_place(T, "t_")),
        ((2, 1), in_place(T, "squeeze_")),
        ((2,), in_place(T, "unsqueeze_", 0)),
        ((2, 3), in_place(T, "swapaxes_", 0, 1)),
        ((2,), in_place(T, "set_", T.zeros(2))),
        ((2,), in_place(T, "set_", T.zeros(3))),
        ((2,), frozen(T, new_data(T, 2))),
        ((2,), frozen(T, in_place(T, "resize_", 3))),
    ]


def outcomes(T, use):
    return [tried(use, T.ones(shape, requires_grad=True), change) for shape, change in changes(T)]


@program
def asked_for_after_both_uses(T):
    def use(x, change):
        before = (x * 2).sum()
        change(x)
        return T.autograd.grad(before + (x * 3).sum(), x)

    return outcomes(T, use)


@program
def stored_after_both_uses(T):
    def use(x, change):
        before = (x * 2).sum()
        change(x)
        (before + (x * 3).sum()).backward()
        return x.grad, x.grad.stride()

    return outcomes(T, use)


@program
def stored_of_the_old_use(T):
    def use(x, change):
        before = (x * 2).sum()
        change(x)
        before.backward()
        return x.grad, x.grad.stride()

    return outcomes(T, use)


@program
def stored_of_named_inputs(T):
    def use(x, change):
        before = (x * 2).sum()
        change(x)
        before.backward(inputs=[x])
        return x.grad

    return outcomes(T, use)


@program
def stored_before_and_after(T):
    def use(x, change):
        (x * 2).sum().backward()
        change(x)
        x.grad = None
        (x * 3).sum().backward()
        return x.grad

    return outcomes(T, use)


@program
def the_node_stays(T):
    def use(x, change):
        before = x * 2
        change(x)
        node = before.grad_fn.next_functions[0][0]
        return node is (x * 3).grad_fn.next_functions[0][0], node.variable is x

    return outcomes(T, use)


@program
def hooks_run_once(T):
    def use(x, change):
        seen = []
        x.register_hook(lambda grad: seen.append(grad.tolist()))
        before = (x * 2).sum()
        change(x)
        (before + (x * 3).sum()).backward()
        return seen

    return outcomes(T, use)


@program
def a_leaf_that_is_a_view(T):
    row = T.ones(3, 2)[0].requires_grad_()
    before = row * 2
    row.data = T.zeros(2)
    return T.autograd.grad((before + row * 3).sum(), row)


@program
def parameters_from_a_vector(T):
    model = T.nn.Linear(2, 1)
    parameters = list(model.parameters())
    loss = model(T.ones(1, 2)).sum()
    T.nn.utils.vector_to_parameters(T.zeros(3), parameters)
    return T.autograd.grad(loss, parameters)
