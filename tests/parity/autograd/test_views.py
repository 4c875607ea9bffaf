"""Views, in-place ops and versions behave as in PyTorch under autograd."""

import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


# -------------------- values --------------------

IN_PLACE = {
    "add_": (2.0,), "sub_": (1.0,), "mul_": (3.0,), "div_": (2.0,), "pow_": (3,), "exp_": (), "log_": (), "sin_": (),
    "sqrt_": (), "tanh_": (), "sigmoid_": (), "relu_": (), "neg_": (), "abs_": (), "reciprocal_": (), "zero_": (),
    "clamp_": (0.1, 0.6),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_op(name):
    def whole(T):
        x = (sample(T, 4, requires_grad=False).abs() + 0.1).requires_grad_()
        y = x * 1.5
        getattr(y, name)(*IN_PLACE[name])
        (y * y).sum().backward()
        return x.grad, y.grad_fn

    def part(T):
        x = (sample(T, 4, requires_grad=False).abs() + 0.1).requires_grad_()
        y = x * 1.5
        getattr(y[1:3], name)(*IN_PLACE[name])
        (y * y).sum().backward()
        return x.grad, y.grad_fn

    assert_same(whole)
    assert_same(part)


@pytest.mark.parametrize("index", [0, slice(1, 3), (0, 1), (slice(None), 1), Ellipsis], ids=str)
def test_assignment(index):
    def run(T):
        x, value = sample(T, 3, 2), sample(T, 1, seed=4)
        y = x.clone()
        y[index] = value[0]
        (y * y).sum().backward()
        return x.grad, value.grad, y

    assert_same(run)


@program
def a_view_is_written(T):
    x = sample(T, 3, 2)
    y = x * 2
    view = y[0]
    view.mul_(3)
    seen = view.grad_fn, y.grad_fn, y.grad_fn.next_functions, y._version, view._version
    y.sum().backward()
    return seen, x.grad


@program
def the_base_is_written(T):
    x = sample(T, 3, 2)
    y = x * 2
    view = y[0]
    y.mul_(x)
    seen = view.grad_fn, view.requires_grad
    view.sum().backward()
    return seen, x.grad


@program
def a_view_brings_the_base_into_the_graph(T):
    x, y = sample(T, 2), T.ones(3, 2)
    view = y[1]
    view.mul_(x)
    seen = view.grad_fn, y.grad_fn, y.requires_grad
    row = y[1]
    (row * row).sum().backward()
    return seen, x.grad


@program
def views_of_views(T):
    x = sample(T, 4)
    y = x.clone()
    view = y[:2]
    inner = view[0]
    inner.mul_(3)
    return view.grad_fn, inner.grad_fn, y.grad_fn, T.autograd.grad(view.sum(), x)


@program
def transposed_views(T):
    x = sample(T, 2, 2)
    y = x.clone()
    y.t().mul_(sample(T, 2, 2, seed=4, requires_grad=False))
    y.t()[0].copy_(x[1])
    (y * y).sum().backward()
    return x.grad


@program
def second_derivative_through_a_view(T):
    x = sample(T, 4)
    y = x.clone()
    y[:2].exp_()
    first = T.autograd.grad((y * y).sum(), x, create_graph=True)[0]
    return first, T.autograd.grad((first * first).sum(), x)


@program
def part_of_the_gradients(T):
    x, factor = sample(T, 4), sample(T, 2, seed=5)
    y = x.clone()
    y[:2].mul_(factor)
    loss = (y * y).sum()
    return T.autograd.grad(loss, [x], retain_graph=True), T.autograd.grad(loss, [factor])


@program
def zero_and_copy(T):
    x = sample(T, 4)
    y = x.clone()
    y.view(2, 2)[0].zero_()
    z = T.ones(4)
    z.copy_(y)
    integers = T.ones(4, dtype=T.int64)
    integers.copy_(x)
    (z * z).sum().backward()
    return x.grad, z.grad_fn, integers.requires_grad


@program
def expanded(T):
    x = sample(T, 1, 3)
    y = x.expand(2, 3)
    (y * y).sum().backward()
    return x.grad


# -------------------- layout of gradients --------------------

LEAVES = {
    "contiguous": lambda T: sample(T, 2, 3),
    "transposed": lambda T: sample(T, 2, 3).detach().t().requires_grad_(),
    "strided": lambda T: sample(T, 2, 6).detach()[:, ::2].requires_grad_(),
    "expanded": lambda T: sample(T, 3, 1).detach().expand(3, 2).requires_grad_(),
    "permuted": lambda T: sample(T, 2, 3, 4).detach().permute(2, 0, 1).requires_grad_(),
    "one row": lambda T: sample(T, 1, 3).detach().t().requires_grad_(),
}


@pytest.mark.parametrize("kind", LEAVES)
def test_layout_of_gradients(kind):
    def run(T):
        x = LEAVES[kind](T)
        (x * 3).sum().backward()
        first = x.grad
        x.grad = None
        x.sum().backward()
        return first, x.grad

    assert_same(run)


# -------------------- versions --------------------


@program
def a_saved_output_is_written(T):
    y = sample(T, 3).exp()
    y.add_(1)
    y.sum().backward()


@program
def a_saved_input_is_written(T):
    x = sample(T, 3, requires_grad=False)
    y = sample(T, 3) * x
    x.unsqueeze(0).add_(1)
    y.sum().backward()


@program
def a_saved_intermediate_is_written(T):
    y = sample(T, 3).exp()
    z = y * y
    y.add_(1)
    z.sum().backward()


@program
def a_written_view_was_saved(T):
    y = sample(T, 3) * 1
    y[0].mul_(2)
    z = y * y
    y.mul_(2)
    z.sum().backward()


@program
def written_through_detach(T):
    y = sample(T, 3) * 2
    z = y * y
    y.detach().mul_(2)
    z.sum().backward()


@program
def hint_in_anomaly_mode(T):
    with T.autograd.detect_anomaly():
        y = sample(T, 3).exp()
        y.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:
            return str(error)


@program
def detached(T):
    y = sample(T, 3) * 2
    detached = y.detach()
    y.mul_(2)
    seen = detached._version, detached._is_view(), detached.requires_grad, detached.is_leaf
    y.detach_()
    return seen, y.requires_grad, y.grad_fn, y.is_leaf


@program
def increment_version(T):
    x = T.ones(1)
    T.autograd.graph.increment_version(x)
    return x._version


# -------------------- what may not be written --------------------


def in_no_grad(T, base, view):
    with T.no_grad():
        return view(base)


FORBIDDEN = {
    "leaf": lambda T: sample(T, 3).add_(1),
    "view of a leaf": lambda T: sample(T, 3)[0].add_(1),
    "detach_ of a view": lambda T: (sample(T, 3) * 2)[0].detach_(),
    "view made in no_grad": lambda T: in_no_grad(T, sample(T, 3) * 2, lambda y: y[0]).mul_(2),
    "view made in no_grad, of a constant": lambda T: in_no_grad(T, T.ones(3), lambda y: y[0]).mul_(sample(T, 1)[0]),
    "view of a view made in no_grad": lambda T: in_no_grad(T, sample(T, 3) * 2, lambda y: y[:2])[0].mul_(2),
    "one of several views": lambda T: (sample(T, 3) * 2).unbind()[0].mul_(2),
    "view of one of several views": lambda T: (sample(T, 3) * 2).split([1, 2])[0][0].mul_(2),
    "one of several views of a constant": lambda T: T.ones(3).split([1, 2])[0].mul_(sample(T, 1)),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden_write(name):
    assert_same(FORBIDDEN[name])


@program
def several_views_and_a_written_base(T):
    y = sample(T, 3) * 2
    views = y.unbind()
    y.mul_(2)
    return views[0].requires_grad, views[0].grad_fn


@program
def leaves_that_are_views(T):
    base = T.ones(2)
    view = base[0].requires_grad_()
    seen = [view.is_leaf, view._is_view(), view.grad_fn]
    base.mul_(2)
    seen += [view.requires_grad, view.grad_fn]
    base.mul_(sample(T, 1))
    seen += [view.requires_grad, view.grad_fn, view.is_leaf]
    return seen


@program
def a_view_made_in_no_grad_is_a_leaf(T):
    y = sample(T, 3) * 2
    view = in_no_grad(T, y, lambda y: y[0])
    (view * 3).backward()
    return view.requires_grad, view.is_leaf, view.grad_fn, view.grad


@program
def views_of_a_base_that_was_written_before(T):
    base = T.ones(2)
    base.add_(1)
    early = base[0]
    base.requires_grad_()
    unrecorded = in_no_grad(T, base, lambda base: base[1])
    return early.requires_grad, early.grad_fn, unrecorded.requires_grad, (unrecorded * 2).requires_grad


@program
def inference_tensors(T):
    with T.inference_mode():
        x = T.ones(3)
    seen = [x.is_inference(), x[0].is_inference(), x.requires_grad]
    for attempt in (lambda: x.mul_(2), lambda: sample(T, 3) * x, lambda: x.requires_grad_(), lambda: x._version):
        try:
            seen.append(attempt())
        except RuntimeError as error:
            seen.append(str(error))
    return seen


@program
def inference_views(T):
    y = T.ones(3)
    with T.inference_mode():
        y.add_(1)
        view = y[0]
    seen = [y._version, view.is_inference(), view._version]
    view.add_(1)
    seen.append(y._version)
    view.mul_(sample(T, 1)[0])
    return seen


# -------------------- other shapes in place --------------------

SHAPES = {
    "unsqueeze_": lambda t: t.unsqueeze_(1),
    "squeeze_": lambda t: t.squeeze_(),
    "t_": lambda t: t.t_(),
}


def kind_of_node(tensor):
    return tensor.grad_fn and tensor.grad_fn.name().rstrip("0123456789")


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("view", ["no view", "of a recorded tensor", "of a written constant"])
@pytest.mark.parametrize("written", ["nothing", "itself", "the base"])
def test_other_shape(name, view, written):
    def run(T):
        x = sample(T, 2, 3) if name == "t_" else sample(T, 1, 3)
        base = T.ones(x.shape).mul_(x) if view == "of a written constant" else x * 2
        tensor = base if view == "no view" else base[:]
        tensor = SHAPES[name](tensor)
        kinds = [kind_of_node(tensor), kind_of_node(base)]
        if written != "nothing":
            (tensor if written == "itself" else base).mul_(3)
        kinds += [kind_of_node(tensor), kind_of_node(base)]
        (tensor * tensor).sum().backward()
        return tensor, x.grad, kinds, tensor._version

    assert_same(run)


NEW_ARRAYS = {
    **{name: lambda t, T, name=name: SHAPES[name](t) for name in SHAPES},
    "as_strided_": lambda t, T: t.as_strided_((2,), (1,)),
    "set_": lambda t, T: t.set_(T.ones(4)),
    "out": lambda t, T: T.add(T.ones(2, 1), 1, out=t.resize_(0) if not t.requires_grad else t),
    "data": lambda t, T: setattr(t, "data", T.ones(5)),
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("name", NEW_ARRAYS)
def test_gradient_of_a_leaf_that_has_changed(name):
    def run(T):
        x = T.ones(1, 3, requires_grad=True)
        (x * 2).sum()
        with T.no_grad():
            NEW_ARRAYS[name](x, T)
        (x * 2).sum().backward()
        return x, x.grad, x._version

    assert_same(run)


OUTSIDE = {
    "detached base": lambda T: (sample(T, 2, 3) * 2,),
    "leaf that is a view": lambda T: (T.ones(3, 2).t().requires_grad_(),),
}


@pytest.mark.parametrize("base", OUTSIDE)
@pytest.mark.parametrize("view", [lambda y: y[0], lambda y: y.split(1)[0]], ids=["select", "split"])
def test_view_of_a_written_base_outside_of_the_graph(base, view):
    def run(T):
        (y,) = OUTSIDE[base](T)
        part = view(y)
        if not y.is_leaf:
            y.detach_()
        with T.no_grad():
            y.mul_(2)
        node = part.grad_fn
        part.sum().backward()
        return node, part.requires_grad, y.grad

    assert_same(run)


@program
def detach_in_inference_mode(T):
    x = sample(T, 3)
    y = x * 2
    view = y[0]
    with T.inference_mode():
        return [(each.detach_() is each, each.requires_grad) for each in (x, y, view, T.ones(2))]
