"""Tensors that leave a transform through a list or a closure: their part in the transform is over, that in the autograd
around it is not."""

import random

import pytest
import torch

import mindtorch
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, outcome


def summed(f):
    return lambda x: f(x).sum()


TRANSFORMS = {
    "grad": lambda T, f, x: T.func.grad(summed(f))(x),
    "grad_and_value": lambda T, f, x: T.func.grad_and_value(summed(f))(x),
    "vjp": lambda T, f, x: T.func.vjp(f, x)[0],
    "pulled back": lambda T, f, x: T.func.vjp(f, x)[1](T.ones(3)),
    "jvp": lambda T, f, x: T.func.jvp(f, (x,), (T.ones(3),)),
    "grad of grad": lambda T, f, x: T.func.grad(lambda y: T.func.grad(summed(f))(y).sum())(x),
    "grad of vjp": lambda T, f, x: T.func.grad(lambda y: T.func.vjp(f, y)[1](y)[0].sum())(x),
    "jvp of grad": lambda T, f, x: T.func.jvp(T.func.grad(summed(f)), (x,), (T.ones(3),)),
    "grad of jvp": lambda T, f, x: T.func.grad(lambda y: T.func.jvp(f, (y,), (y,))[1].sum())(x),
}
LEAKS = {
    "input": lambda T, x, w: x,
    "product": lambda T, x, w: x * w,
    "sine": lambda T, x, w: x.sin(),
    "view": lambda T, x, w: (x * 2).view(3, 1),
    "detached": lambda T, x, w: (x * w).detach(),
    "without the input": lambda T, x, w: w * 3,
    "constant": lambda T, x, w: T.ones(3),
}
ASKED = {
    "backward": lambda T, leaked, leaf: leaked.sum().backward(),
    "backward of a product": lambda T, leaked, leaf: (leaked * 2).sum().backward(),
    "with a leaf": lambda T, leaked, leaf: (leaked.sum() * leaf).sum().backward(),
    "grad of a leaf": lambda T, leaked, leaf: T.autograd.grad(leaked.sum(), leaf, allow_unused=True)[0],
}


def asked(T, transform, leak, question, x_requires_grad, weight_requires_grad):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=x_requires_grad)
    weight = T.tensor([3.0, 1.0, 2.0], requires_grad=weight_requires_grad)
    leaf = T.tensor([1.0, 1.0, 2.0], requires_grad=True)
    leaked = []

    def f(y):
        leaked.append(LEAKS[leak](T, y, weight))
        return (y * weight).sin()

    results = T.utils._pytree.tree_leaves(TRANSFORMS[transform](T, f, x))
    answer = tried(ASKED[question], T, leaked[0], leaf)
    passes = [tried(lambda each=each: each.sum().backward()) for each in results]
    return answer, x.grad, weight.grad, leaf.grad, passes, [each.is_leaf for each in results]


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_leaks(transform, question):
    def all_cases(T):
        flags = [(first, second) for first in (False, True) for second in (False, True)]
        return {f"{leak} {each}": tried(asked, T, transform, leak, question, *each) for leak in LEAKS for each in flags}

    assert_same(all_cases)


def facts(tensor):
    node = tensor.grad_fn
    return tensor.requires_grad, tensor.is_leaf, node and node.name()


# What is asked of a tensor that has left transforms around which nothing requires grad, and of what is made of it.
ASKED_OF_IT = {
    "facts": lambda T, t, leaf: facts(t),
    "an op": lambda T, t, leaf: (facts(t * 2), str(t * 1), t.clone(), t.sum().requires_grad),
    "beside a leaf": lambda T, t, leaf: (
        (t * leaf).grad_fn.next_functions[0][0],
        T.autograd.grad((t * leaf).sum(), leaf),
    ),
    "write": lambda T, t, leaf: (t.add_(1), facts(t)),
    "write to a view": lambda T, t, leaf: t[0].mul_(2),
    "zeros": lambda T, t, leaf: (t.zero_(), facts(t)),
    "copy": lambda T, t, leaf: (T.zeros_like(t).copy_(t), T.mul(T.ones_like(t), 2, out=t)),
    "parts": lambda T, t, leaf: [facts(each) for each in (*t, *t.unbind(), t[:1], t.view(-1))],
    "gradient of itself": lambda T, t, leaf: T.autograd.grad(t.sum(), t, allow_unused=True),
    "gradient of a product": lambda T, t, leaf: T.autograd.grad((t * leaf).sum(), [leaf, t], allow_unused=True),
    "gradient kept": lambda T, t, leaf: t.retain_grad(),
    "flag": lambda T, t, leaf: (t.requires_grad_(False), facts(t)),
    "another transform": lambda T, t, leaf: (
        *(T.vmap(lambda b: b * t)(T.ones(2, 3)), T.vmap(lambda b: b * b)(t)),
        *(T.func.jvp(lambda b: b * t, (T.ones(3),), (T.ones(3),)), T.func.grad(lambda b: (b * t).sum())(T.ones(3))),
    ),
}
MORE_LEAKS = {
    **LEAKS,
    "leaf": lambda T, x, w: T.ones(3, requires_grad=True),
    "written": lambda T, x, w: x.clone().mul_(w),
}
# What torch shows of them depends on the tensor that it has wrapped.
APART = {("view", "copy"), *[(leak, "flag") for leak in ("detached", "without the input", "constant")]}


@pytest.mark.parametrize("transform", ["grad", "vjp", "pulled back", "grad of grad", "jvp of grad"])
def test_what_is_asked_of_leaks(transform):
    def one(T, leak, question):
        x, weight = T.tensor([1.0, 2.0, 3.0]), T.tensor([3.0, 1.0, 2.0])
        leaf, leaked = T.tensor([1.0, 1.0, 2.0], requires_grad=True), []

        def f(y):
            leaked.append(MORE_LEAKS[leak](T, y, weight))
            return (y * weight).sin()

        result = TRANSFORMS[transform](T, f, x)
        return tried(ASKED_OF_IT[question], T, leaked[0], leaf), x, result

    def all_cases(T):
        # torch fails in an assertion of its own where a level of another transform takes the place of one that is over
        questions = [each for each in ASKED_OF_IT if " of " not in transform or each != "another transform"]
        pairs = [(leak, question) for leak in MORE_LEAKS for question in questions]
        return {str(pair): tried(one, T, *pair) for pair in pairs if pair not in APART}

    assert_same(all_cases)


# What is asked of several tensors that have left one transform, whose graph they still have among themselves.
ASKED_OF_ALL = {
    "both": lambda T, y, z, total: T.autograd.grad(total, [z, y], retain_graph=True),
    "input": lambda T, y, z, total: (T.autograd.grad(total, y, retain_graph=True), T.autograd.grad(total, y)),
    "middle": lambda T, y, z, total: T.autograd.grad(total, [z], retain_graph=True),
    "twice": lambda T, y, z, total: (T.autograd.grad(total, z), T.autograd.grad(total, y)),
    "weighted": lambda T, y, z, total: T.autograd.grad(z, [y], T.tensor([1.0, 2.0, 3.0])),
    "itself": lambda T, y, z, total: (T.autograd.grad(y, y, T.ones(3)), T.autograd.grad(total, total)),
    "several": lambda T, y, z, total: T.autograd.grad([total, z], [y, z], [None, T.ones(3)]),
    "what is made of it": lambda T, y, z, total: T.autograd.grad(total * 1, [y], allow_unused=True),
    "gradient kept": lambda T, y, z, total: (
        z.retain_grad(),
        total.backward(inputs=[y, z], retain_graph=True),
        total.backward(inputs=[y]),
        y.grad,
        z.grad,
    ),
}


@pytest.mark.parametrize("transform", ["grad", "vjp", "still open", "grad of grad", "jvp of grad"])
def test_graph_among_leaks(transform):
    def one(T, question):
        leaked, x = [], T.tensor([1.0, 2.0, 3.0])

        def f(y):
            z = y.exp()
            leaked.extend((y, z, (z * y).sum()))
            return z

        open_or_over = T.func.vjp(f, x) if transform == "still open" else TRANSFORMS[transform](T, f, x)
        return tried(ASKED_OF_ALL[question], T, *leaked), x.grad, open_or_over[0]

    assert_same(lambda T: {question: tried(one, T, question) for question in ASKED_OF_ALL})


@pytest.mark.parametrize("leak", LEAKS)
def test_leaks_into_an_outer_transform(leak):
    """What leaves the inner transform still belongs to the outer one."""

    def nested(T):
        def outer(x):
            leaked = []

            def inner(y):
                leaked.append(LEAKS[leak](T, y, x))
                return (y * x).sin().sum()

            return (T.func.grad(inner)(x * 2) * leaked[0].reshape(3)).sum()

        values = T.func.jvp(outer, (T.ones(3),), (T.ones(3),))
        return T.func.grad(outer)(T.tensor([1.0, 2.0, 3.0])), [each.detach() for each in values]

    assert_same(nested)


# -------------------- a tensor is one thing inside, another outside --------------------


def tree(node):
    return node and (node.name(), [tree(each) for each, _ in node.next_functions])


def end(node):
    while any(each for each, _ in node.next_functions):
        node = next(each for each, _ in node.next_functions if each)
    return node


def leaves(node):
    following = [each for each, _ in node.next_functions if each]
    return [node.variable] if hasattr(node, "variable") else [leaf for each in following for leaf in leaves(each)]


def backward(t, **options):
    t.backward(t.detach().clone().fill_(1), **options)


def gradients(T, t, *of, **options):
    return T.autograd.grad(t, of, t.detach().clone().fill_(1), **options)


def changed(t, leaf):
    """What is asked of a leak by writing to it."""
    return t.mul_(2), facts(t), facts(t * 2), facts(t * leaf)


def seen_by_hook(t, ask):
    seen = []
    handle = t.register_hook(seen.append)
    ask()
    handle.remove()
    ask()
    return seen


def kept(t, ask):
    t.retain_grad()
    ask()
    return t.retains_grad, t.grad


# Of a leak `t`, the input `y` of the function that it comes from, what the function has captured (`w`), what the
# transform was given (`x`) and another leaf.
GRAPHS = {
    "facts": lambda T, t, y, w, x, leaf: (facts(t), facts(t * 2), facts(t.detach()), t.output_nr),
    "nodes": lambda T, t, y, w, x, leaf: tree(t.grad_fn),
    "text": lambda T, t, y, w, x, leaf: (repr(t * 0), repr(t.detach() * 0)),
    "text of itself": lambda T, t, y, w, x, leaf: repr(T.no_grad()(t.zero_)()),
    "numbers": lambda T, t, y, w, x, leaf: t.numpy().shape,
    "leaf of the graph": lambda T, t, y, w, x, leaf: (lambda v: (v is t, v is y, facts(v)))(end(t.grad_fn).variable),
    "leaves outside": lambda T, t, y, w, x, leaf: [(v is w, v is x, facts(v)) for v in leaves((t * leaf).grad_fn)],
    "backward": lambda T, t, y, w, x, leaf: backward(t),
    "backward twice": lambda T, t, y, w, x, leaf: (backward(t), backward(t)),
    "backward again": lambda T, t, y, w, x, leaf: (backward(t, retain_graph=True), backward(t * 2)),
    "backward outside": lambda T, t, y, w, x, leaf: backward(t * leaf),
    "backward to y": lambda T, t, y, w, x, leaf: backward(t, inputs=[y]),
    "backward to w": lambda T, t, y, w, x, leaf: backward(t, inputs=[w]),
    "to y": lambda T, t, y, w, x, leaf: gradients(T, t, y),
    "to w": lambda T, t, y, w, x, leaf: gradients(T, t, w),
    "to x": lambda T, t, y, w, x, leaf: gradients(T, t, x),
    "to all": lambda T, t, y, w, x, leaf: gradients(T, t, w, x, y, t, allow_unused=True),
    "outside to y": lambda T, t, y, w, x, leaf: gradients(T, t * 2, y),
    "outside to t": lambda T, t, y, w, x, leaf: gradients(T, t * 2, t, allow_unused=True),
    "outside to w": lambda T, t, y, w, x, leaf: gradients(T, t * 2, w),
    "recorded": lambda T, t, y, w, x, leaf: [
        (each, tree(each.grad_fn)) for each in gradients(T, t, y, create_graph=True)
    ],
    "data": lambda T, t, y, w, x, leaf: (facts(t.data), facts(t.data * 2), t.data, t.data.grad_fn),
    "new data": lambda T, t, y, w, x, leaf: setattr(t, "data", T.ones(3)),
    "gradient set": lambda T, t, y, w, x, leaf: (setattr(t, "grad", t.detach() * 0), backward(t), t.grad),
    "detached in place": lambda T, t, y, w, x, leaf: (t.detach_(), facts(t), facts(t * 2)),
    "written": lambda T, t, y, w, x, leaf: changed(t, leaf),
    "written with a leaf": lambda T, t, y, w, x, leaf: (t.mul_(leaf[:1]), facts(t), facts(t * 2)),
    "flag": lambda T, t, y, w, x, leaf: (t.requires_grad_(), facts(t), facts(t * 2), backward(t), t.grad),
    "no flag": lambda T, t, y, w, x, leaf: (t.requires_grad_(False), facts(t), facts(t * 2)),
    "hook": lambda T, t, y, w, x, leaf: seen_by_hook(t, lambda: backward(t, retain_graph=True)),
    "hook outside": lambda T, t, y, w, x, leaf: seen_by_hook(t, lambda: backward(t * 2, retain_graph=True)),
    "kept": lambda T, t, y, w, x, leaf: kept(t, lambda: backward(t)),
    "kept outside": lambda T, t, y, w, x, leaf: kept(t, lambda: backward(t * 2)),
    "parameter": lambda T, t, y, w, x, leaf: facts(T.nn.Parameter(t)),
    "another transform": lambda T, t, y, w, x, leaf: (
        T.func.grad(lambda b: (b * t).sum())(T.ones(3, 3)),
        [facts(each) for each in (T.func.vjp(lambda b: b * leaf[0], t)[0], T.vmap(lambda b: b * leaf[0])(t))],
    ),
}
OUTSIDE = {
    **MORE_LEAKS,
    "with a leaf of the function": lambda T, x, w: T.ones(3, requires_grad=True) * w,
    "view of the input": lambda T, x, w: x[1:],
    "view of a captured one": lambda T, x, w: w[1:],
    "one of several": lambda T, x, w: (x * w).unbind()[0],
    "of no_grad": lambda T, x, w: T.no_grad()(lambda: x * w)(),
    "data": lambda T, x, w: (x * w).data,
    "beside its data": lambda T, x, w: x * w + (x * w).data,
    "written in part": lambda T, x, w: (lambda z: (z[0].mul_(w[0]), z)[1])(x * 1),
    "power": lambda T, x, w: x**2 * w,
    "saved result": lambda T, x, w: (x * w).sigmoid(),
}
DEPTHS = {
    **TRANSFORMS,
    "jacrev": lambda T, f, x: T.func.jacrev(f)(x),
    "hessian": lambda T, f, x: T.func.hessian(summed(f))(x),
    "aux": lambda T, f, x: T.func.grad(lambda y: (y.sum(), f(y)), has_aux=True)(x)[1],
    "forward aux": lambda T, f, x: T.func.jvp(lambda y: (y * 1, f(y)), (x,), (x,), has_aux=True)[2],
}
# What torch shows of a tensor without history when its function returns it, of views that may not be read any more, of
# a node for what has left one transform of several, and of an input of which a view was written.
SHOWN_OTHERWISE = {
    "text of itself": {"one of several", "data", "input", "constant", "without the input", "of no_grad", "detached"},
    "nodes": {"data", "beside its data"},
    "written with a leaf": {"input", "view of the input"},
    "detached in place": {"input"},
    "written": {"input"},
}
REFUSED_IF_RETURNED = ("written with a leaf", "text of itself")  # or without history the result itself
# torch frees the graph of a leak in the pass of `grad`, also where the same nodes belong to another transform here. It
# fails in an assertion of its own where a level of another transform takes the place of one that is over.
TORCHS_OWN = ("backward through the graph a second time", "INTERNAL ASSERT FAILED")


def asked_of_graph(T, transform, leak, question, flags):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=flags[0])
    w, leaf = T.tensor([3.0, 1.0, 2.0], requires_grad=flags[1]), T.tensor([1.0, 1.0, 2.0], requires_grad=True)
    leaked = []

    def f(y):
        t = OUTSIDE[leak](T, y, w)
        leaked.append((t, y))
        return t * 1 if flags[2] else t

    results = T.utils._pytree.tree_leaves(DEPTHS[transform](T, f, x))
    t, y = leaked[0]
    answer = tried(GRAPHS[question], T, t, y, w, x, leaf)
    return answer, x.grad, w.grad, y.grad, leaf.grad, [facts(each) for each in results]


@pytest.mark.parametrize("question", GRAPHS)
def test_inside_and_outside(question):
    """A sample of the table: each question, after each transform, of some leaks."""
    chosen = random.Random(question)
    leaks = sorted(OUTSIDE.keys() - SHOWN_OTHERWISE.get(question, set()))
    cases = [(transform, leak) for transform in DEPTHS for leak in chosen.sample(leaks, 2)]
    flags = [tuple(chosen.random() < 0.7 for _ in range(3)) for _ in cases]  # the last: whether the leak isn't returned
    if question in REFUSED_IF_RETURNED:
        flags = [(*each[:2], True) for each in flags]

    for case, each in zip(cases, flags, strict=True):
        own, expected = (
            outcome(lambda T: tried(asked_of_graph, T, *case, question, each), library)  # noqa: B023
            for library in (mindtorch, torch)
        )
        if not any(text in str(expected) for text in TORCHS_OWN):
            assert own == expected, f"{case} {each}\nmindtorch: {own}\ntorch:     {expected}"


def test_writes_that_are_refused():
    """An input is also a tensor outside, whose history would not follow; what was returned is the result."""

    def leak(T):
        w, leaked = T.tensor([3.0, 1.0, 2.0], requires_grad=True), []
        result = T.func.vjp(lambda y: (leaked.extend((y, y * w)), leaked[1])[1], w * 1)[0]
        return leaked, result

    assert_same(lambda T: [facts(each) for each in (*leak(T)[0], leak(T)[1])])
    leaked, _ = leak(mindtorch)
    with pytest.raises(RuntimeError, match="Write the tensor outside instead"):
        leaked[0].mul_(2)
    leaked[1].mul_(2)


# -------------------- what a function has captured stays what it is --------------------


def noticed(t):
    t.register_hook(lambda grad: grad * 2)
    return t


def retained(t):
    t.retain_grad()
    return t


# What gives a tensor from outside to the function, made of a leaf.
CAPTURED = {
    "leaf": lambda T, x: as_it_is(T.ones(3, 3, requires_grad=True)),
    "leaf with a hook": lambda T, x: as_it_is(noticed(T.ones(3, 3, requires_grad=True))),
    "product": lambda T, x: as_it_is(x * 2),
    "product with a hook": lambda T, x: as_it_is(noticed(x * 2)),
    "product that retains": lambda T, x: as_it_is(retained(x * 2)),
    "view": lambda T, x: as_it_is((x * 2).view(3, 3)),
    "view with a hook": lambda T, x: as_it_is(noticed((x * 2).t())),
    "view of no_grad": lambda T, x: as_it_is(T.no_grad()((x * 2).view)(3, 3)),
    "written": lambda T, x: as_it_is(noticed((x * 2).mul_(2))),
    "detached": lambda T, x: as_it_is((x * 2).detach()),
    "leaf of a graph only": lambda T, x: variable_of(T.full((3, 3), 2.0, requires_grad=True) * x),
}


def as_it_is(tensor):
    return lambda: tensor


def variable_of(product):
    return lambda: product.grad_fn.next_functions[0][0].variable


USES = {
    "product": lambda T, c, a: c * a,
    "matrix product": lambda T, c, a: c @ a,
    "linear": lambda T, c, a: T.nn.functional.linear(a, c),
    "stacked": lambda T, c, a: T.stack([c[0], a]),
    "joined": lambda T, c, a: T.cat((c[1], a), 0),
    "copied": lambda T, c, a: c.clone().copy_(a),
    "copy written": lambda T, c, a: c.clone().mul_(a),
    "chosen": lambda T, c, a: T.where(a > 0, c, a),
    "summed": lambda T, c, a: c.sum(0).addcmul(c[0], a),
    "view": lambda T, c, a: c.t().diagonal() * a,
    "detached": lambda T, c, a: c.detach() * a,
    "refused": lambda T, c, a: c.mul_(2) * a,
    "refused view": lambda T, c, a: c.view(3, 3)[0].mul_(2) * a,
    "given back": lambda T, c, a: c,
    "kept": lambda T, c, a: (c * 1, a)[1],
}


# With jacrev in vmap torch stores samples of the gradient in what is retained, and cannot read them.
NOT_READ = ("product that retains", "given back")


def directional(T, f):
    return lambda x: T.func.jvp(f, (x,), (x * 2,))[1]


NESTS = {
    "jvp": directional,
    "vmap of jvp": lambda T, f: T.vmap(directional(T, f)),
    "jvp of vmap": lambda T, f: directional(T, T.vmap(f)),
    "jvp of jvp": lambda T, f: directional(T, directional(T, f)),
    "vmap of jacrev": lambda T, f: T.vmap(T.func.jacrev(f)),
    "vmap of grad": lambda T, f: T.vmap(T.func.grad(lambda a: f(a).sum())),
    "grad of vmap": lambda T, f: T.func.grad(lambda a: T.vmap(f)(a).sum()),
    "grad of vmap of jvp": lambda T, f: T.func.grad(lambda a: T.vmap(directional(T, f))(a).sum()),
    "jacfwd": lambda T, f: T.func.jacfwd(f),
    "hessian": lambda T, f: T.func.hessian(lambda a: f(a).sum()),
}


@pytest.mark.parametrize("nest", NESTS)
def test_captured_tensors_stay(nest):
    def one(T, captured, use):
        x = T.arange(9.0).reshape(3, 3).requires_grad_()
        given, kept = CAPTURED[captured](T, x), []

        def f(a):
            kept.append(given())
            return USES[use](T, kept[-1], a)

        error = tried(NESTS[nest](T, f), T.ones(3, 3) if "vmap" in nest else T.ones(3))
        c = kept[0]
        is_known = isinstance(error, str) and "captured" in error  # others name what has been refused first
        answer = tried(lambda: (c * T.ones(3, 3, requires_grad=True)).sum().backward())
        return is_known and error, facts(c), c._version, c is given(), repr(c * 1), answer, x.grad, c.is_leaf and c.grad

    pairs = [(each, use) for each in CAPTURED for use in USES if (each, use) != NOT_READ]
    assert_same(lambda T: {str(pair): one(T, *pair) for pair in pairs})


@pytest.mark.parametrize("written", ["a", "a * 2", "a[:1]"])
@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "vmap of grad", "grad of grad", "grad of jvp"])
def test_data_that_is_recorded_outside_is_not_written(transform, written):
    """PyTorch records the write in the autograd around the transform only, where there is one graph here."""

    def f(a):
        data = eval(written, {"a": a}).data  # noqa: S307
        data.mul_(2)
        return a * 1

    x = mindtorch.ones(3, requires_grad=" of " not in transform)
    if transform == "vmap of grad":
        x = mindtorch.ones(3, 3, requires_grad=True)
    run = (NESTS if transform == "vmap of grad" else TRANSFORMS)[transform]
    with pytest.raises(RuntimeError, match="data of a tensor cannot be written in place inside of a transform"):
        run(mindtorch, f)(x * 1) if transform == "vmap of grad" else run(mindtorch, f, x * 1)
