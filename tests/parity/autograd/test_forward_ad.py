"""Forward AD: levels, dual tensors, views, writes in place and error texts are those of torch."""

import threading

from tests.parity.support.programs import programs, sample

program, test_program = programs()


def values(T, *numbers, dtype=None):
    return T.tensor([float(number) for number in numbers], dtype=dtype or T.float64)


def tried(function, *args, **kwargs):
    """What a call returns, or its error as text."""
    try:
        return function(*args, **kwargs)
    except (RuntimeError, ValueError, TypeError, NotImplementedError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def tangent(T, tensor):
    return T.autograd.forward_ad.unpack_dual(tensor).tangent


# -------------------- levels --------------------


@program
def entering_and_leaving(T):
    fw = T.autograd.forward_ad
    first = fw.enter_dual_level()
    nested = tried(fw.enter_dual_level)
    wrong = tried(fw.exit_dual_level, level=first + 1)
    fw.exit_dual_level(level=first)
    again = fw.enter_dual_level()
    fw.exit_dual_level()
    return first, nested, wrong, again, tried(fw.exit_dual_level)


@program
def a_level_as_decorator(T):
    fw = T.autograd.forward_ad

    @fw.dual_level()
    def derivative(x):
        return fw.unpack_dual(fw.make_dual(x, T.ones_like(x)).sin()).tangent

    with fw.dual_level() as level:
        inside = level
    return derivative(values(T, 1, 2)), derivative(values(T, 3)), inside


@program
def a_level_that_ends_with_an_error(T):
    fw = T.autograd.forward_ad

    def fails():
        with fw.dual_level():
            raise RuntimeError("stop")

    return tried(fails), tried(fw.make_dual, values(T, 1), values(T, 1))


@program
def tangents_are_gone_after_the_level(T):
    fw = T.autograd.forward_ad
    x = values(T, 1, 2)
    with fw.dual_level():
        dual = fw.make_dual(x, values(T, 3, 4))
        y = dual * 2
    outside = fw.unpack_dual(y)
    with fw.dual_level():
        return outside, fw.unpack_dual(dual), fw.unpack_dual(y), repr(y)


@program
def without_a_level(T):
    fw = T.autograd.forward_ad
    x = values(T, 1)
    unpacked = fw.unpack_dual(x)
    return unpacked, unpacked.primal is x, tried(fw.make_dual, x, x), type(unpacked).__name__, unpacked._fields


@program
def other_levels(T):
    fw = T.autograd.forward_ad
    x = values(T, 1)
    with fw.dual_level():
        return [
            tried(fw.make_dual, x, x, level=-1),
            fw.unpack_dual(fw.make_dual(x, x), level=-1),
            tried(fw.make_dual, x, x, level=0),
            fw.unpack_dual(fw.make_dual(x, x), level=0),
        ]


# -------------------- making duals --------------------


@program
def parts_of_a_dual(T):
    fw = T.autograd.forward_ad
    x, direction = values(T, 1, 2), values(T, 3, 4)
    with fw.dual_level():
        dual = fw.make_dual(x, direction)
        primal, found = fw.unpack_dual(dual)
        facts = [dual._base is x, dual.data_ptr() == x.data_ptr(), found.data_ptr() == direction.data_ptr()]
        facts += [primal is dual, primal._base is x, dual.is_leaf, repr(dual), repr(primal)]
        return primal, found, facts, fw.unpack_dual(x), fw.unpack_dual(primal)


@program
def a_dual_of_a_leaf(T):
    fw = T.autograd.forward_ad
    x = values(T, 1, 2).requires_grad_()
    with fw.dual_level():
        dual = fw.make_dual(x, values(T, 3, 4))
        y = dual * dual
        primal, found = fw.unpack_dual(y)
        return dual.requires_grad, dual.grad_fn, dual.is_leaf, primal, found, found.grad_fn


@program
def refusals_of_make_dual(T):
    fw = T.autograd.forward_ad
    x, whole = values(T, 1, 2), T.ones(2, dtype=T.int64)
    with fw.dual_level():
        dual = fw.make_dual(x, x)
        return [
            tried(fw.make_dual, dual, x),
            tried(fw.make_dual, x, dual),
            tried(fw.make_dual, whole, x),
            tried(fw.make_dual, x, whole),
            tried(fw.make_dual, x, values(T, 1)),
            tried(fw.make_dual, x, values(T, 1, 2).reshape(2, 1)),
        ]


@program
def tangents_of_other_dtypes(T):
    fw = T.autograd.forward_ad
    x, z = values(T, 1, 2), values(T, 1, 2).to(T.complex128)

    def made(primal, direction):
        dual = fw.make_dual(primal, direction)
        return tangent(T, dual), tried(lambda: tangent(T, dual * 2))

    with fw.dual_level():
        return [
            tried(made, x, x.float()),
            tried(made, x.float(), x),
            tried(made, x, z),
            tried(made, z, x),
            tried(made, x, x.half()),
            tried(made, x.bfloat16(), x.bfloat16()),
        ]


@program
def layout_of_the_tangent(T):
    fw = T.autograd.forward_ad
    x = sample(T, 2, 3, requires_grad=False)
    with fw.dual_level():
        return [
            (found, found.data_ptr() == direction.data_ptr())
            for primal, direction in [
                (x, sample(T, 2, 3, requires_grad=False, seed=1)),
                (x, sample(T, 3, 2, requires_grad=False, seed=1).t()),
                (x.t(), sample(T, 3, 2, requires_grad=False, seed=1)),
                (x, T.ones(()).expand(2, 3)),
                (x[:, ::2], T.ones(2, 2)),
            ]
            for found in [tangent(T, fw.make_dual(primal, direction))]
        ]


@program
def strides_of_tangents(T):
    fw = T.autograd.forward_ad
    x, direction = sample(T, 3, 2, requires_grad=False), sample(T, 3, 2, requires_grad=False, seed=1)
    with fw.dual_level():
        dual = fw.make_dual(x.t(), direction.t())
        broad = fw.make_dual(x[0], direction[0])
        return [
            tangent(T, each)
            for each in [
                dual * 2,
                dual + T.ones(2, 3),
                broad + T.ones(3, 2),
                broad * T.ones(3, 2),
                T.ones(3, 2) - broad,
                dual.contiguous(),
                dual.sum(0),
                dual @ x,
                dual.exp(),
                T.where(dual > 0, dual, T.zeros(()).to(x)),
                broad.expand(3, 2),
                T.maximum(broad, T.zeros(3, 2)),
                T.lerp(broad, T.ones(3, 2), 0.3),
            ]
        ]


# -------------------- inputs without tangent --------------------


@program
def zeros_do_not_meet_infinity(T):
    fw = T.autograd.forward_ad
    x, wild = values(T, 1, 2), values(T, float("inf"), float("nan"))
    with fw.dual_level():
        dual = fw.make_dual(x, values(T, 3, 4))
        return [
            tangent(T, each)
            for each in [
                dual + wild,
                dual - wild,
                wild - dual,
                T.maximum(dual, values(T, 0, 0)),
                dual * values(T, 2, 3),
                dual / values(T, 2, 4),
                T.where(T.tensor([True, False]), dual, wild),
                T.stack([dual, wild]),
                T.cat([wild, dual]),
                T.addcmul(wild, dual, x),
                T.atan2(dual, x),
                T.add(wild, dual, alpha=3),
            ]
        ]


@program
def products_with_infinity(T):
    fw = T.autograd.forward_ad
    wild = T.full((2, 2), float("inf"), dtype=T.float64)
    x = T.ones(2, 2, dtype=T.float64)
    with fw.dual_level():
        dual = fw.make_dual(wild, T.ones(2, 2, dtype=T.float64))
        return [tangent(T, each) for each in [dual * x, dual @ x, dual[0] @ x[0], dual @ x[0], x @ dual]]


@program
def numbers_and_dtypes_mixed(T):
    fw = T.autograd.forward_ad
    x, whole = values(T, 1, 2, dtype=T.float32), T.tensor([2, 3])
    with fw.dual_level():
        dual = fw.make_dual(x, x * 3)
        return [
            tangent(T, each)
            for each in [
                dual * whole,
                whole * dual,
                dual + whole,
                dual / whole,
                whole / dual,
                dual**whole,
                dual - 2,
                2 - dual,
                dual * values(T, 1, 2),
                dual + values(T, 1, 2),
                dual * 2j,
                dual + 1j,
                T.where(whole > 2, dual, whole),
                dual.double(),
                dual.to(T.complex64),
                dual.half(),
                dual.clamp(whole),
                T.mul(dual, True),
                T.true_divide(3, dual),
            ]
        ]


@program
def outputs_without_tangent(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 1, 2), values(T, 1, 2, 3))
        ordered = dual.sort()
        return [
            tangent(T, each)
            for each in [
                dual > 1,
                dual.argmax(),
                dual.long(),
                ordered.indices,
                ordered.values,
                dual.detach(),
                dual.data,
                T.zeros_like(dual),
                dual.new_zeros(2),
                dual.floor(),
                dual.sign(),
                dual.clone(),
                dual.round(),
            ]
        ]


# -------------------- views and writes --------------------


@program
def views_of_a_dual(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(sample(T, 2, 3, requires_grad=False), sample(T, 2, 3, requires_grad=False, seed=1))
        base = tangent(T, dual)
        views = [dual.t(), dual[0], dual[:, 1:], dual.view(-1), dual.unsqueeze(0), dual.diagonal(), *dual.unbind(1)]
        views += [*dual.split(2, 1), dual.narrow(1, 0, 2), dual.permute(1, 0), dual.expand(4, 2, 3)]
        return [
            (tangent(T, each), tangent(T, each).data_ptr() - base.data_ptr(), tangent(T, each)._is_view())
            for each in views
        ]


@program
def views_made_before_the_write(T):
    fw = T.autograd.forward_ad
    x = T.ones(2, 3, dtype=T.float64)
    row, column, scale = x[0], x[:, 1], values(T, 1, 2, 3)
    with fw.dual_level():
        x.mul_(fw.make_dual(scale, scale + 1))
        return x, tangent(T, x), tangent(T, row), tangent(T, column), tangent(T, row * 2), tangent(T, x[1])


@program
def a_view_is_written(T):
    fw = T.autograd.forward_ad
    x = T.ones(2, 3, dtype=T.float64)
    row, other, scale = x[0], x.t(), values(T, 1, 2, 3)
    with fw.dual_level():
        row.mul_(fw.make_dual(scale, scale + 1))
        return x, [tangent(T, each) for each in (row, x, other, x.sum(), x[1], x * 2)]


@program
def a_view_of_a_dual_is_written(T):
    fw = T.autograd.forward_ad
    x = T.ones(2, 3, dtype=T.float64)
    with fw.dual_level():
        dual = fw.make_dual(x, T.full((2, 3), 5.0, dtype=T.float64))
        dual[0] = fw.make_dual(values(T, 1, 2, 3), values(T, 7, 8, 9))
        dual[:, 1].mul_(10)
        dual[1, 2] = 4
        y = dual * 1
        dual.t()[0].zero_()
        return [tangent(T, each) for each in (dual, y, dual[0], x, dual.sum())]


@program
def writes_in_place(T):
    fw = T.autograd.forward_ad

    def written(write, source=None):
        x = values(T, 1, 2) if source is None else source
        dual = fw.make_dual(values(T, 3, 4), values(T, 5, 6))
        write(x, dual)
        return x, tangent(T, x), dual, tangent(T, dual)

    with fw.dual_level():
        return [
            written(lambda x, d: x.add_(d)),
            written(lambda x, d: d.add_(x)),
            written(lambda x, d: x.copy_(d)),
            written(lambda x, d: d.copy_(x)),
            written(lambda x, d: d.mul_(d)),
            written(lambda x, d: x.sub_(d, alpha=2)),
            written(lambda x, d: d.exp_()),
            written(lambda x, d: d.zero_()),
            written(lambda x, d: d.fill_(2)),
            written(lambda x, d: x.fill_(d[0])),
            written(lambda x, d: x.masked_fill_(x > 1, d[1])),
            written(lambda x, d: d.clamp_(max=3)),
            written(lambda x, d: x.index_add_(0, T.tensor([1, 0]), d)),
            written(lambda x, d: x.copy_(d), T.zeros(2)),
            written(lambda x, d: d.relu_()),
            written(lambda x, d: d.pow_(2)),
            written(lambda x, d: d.detach_()),
            written(lambda x, d: d.requires_grad_()),
            written(lambda x, d: d.unsqueeze_(0)),
            written(lambda x, d: d.t_()),
            written(lambda x, d: d.div_(x)),
            written(lambda x, d: x.div_(d)),
            written(lambda x, d: d.neg_()),
        ]


@program
def strange_writes(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 4), values(T, 5, 6))
        whole = T.zeros(2, dtype=T.int64)
        return [
            tried(whole.copy_, dual),
            tried(whole.add_, dual),
            tried(setattr, dual, "data", values(T, 9, 9)),
            tangent(T, dual),
            dual,
        ]


@program
def the_tangent_that_was_given_is_written(T):
    fw = T.autograd.forward_ad
    direction = values(T, 5, 6)
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 4), direction)
        dual.mul_(2)
        return direction, tangent(T, dual)


@program
def results_are_written(T):
    fw = T.autograd.forward_ad
    x = values(T, 3, 4)
    results = []
    with fw.dual_level():
        for function in (
            lambda d: d + 1,
            lambda d: 1 + d,
            lambda d: d.clone(),
            lambda d: T.zeros(2).to(d).copy_(d),
            lambda d: d + x,
            lambda d: T.where(x > 3, d, x),
            lambda d: d.contiguous(),
            lambda d: d.clamp(0),
        ):
            dual = fw.make_dual(x, values(T, 5, 6))
            function(dual).mul_(2)
            results.append(tangent(T, dual))
    return results


@program
def writes_that_backward_sees(T):
    fw = T.autograd.forward_ad
    direction = values(T, 5, 6).requires_grad_()
    x = values(T, 3, 4).requires_grad_()
    with fw.dual_level():
        dual = fw.make_dual(x, direction) * 1
        dual.mul_(dual)
        primal, found = fw.unpack_dual(dual)
        return T.autograd.grad(found.sum(), (x, direction)), direction, found.requires_grad


# -------------------- refusals --------------------


@program
def out_arguments(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 4), values(T, 5, 6))
        out, whole = values(T, 0, 0), T.zeros(2, dtype=T.int64)
        return [
            tried(T.mul, dual, dual, out=out),
            tried(T.add, values(T, 1, 1), dual, out=out),
            tried(T.exp, dual, out=out),
            tried(T.mul, values(T, 1, 1), 2, out=dual),
            tried(T.sum, dual, 0, out=out[0]),
            tried(T.cat, [dual], out=out),
            tried(T.sort, dual, out=(out, whole)),
            tried(T.mm, dual[None], dual[:, None], out=out[:1, None]),
            tried(T.max, dual, 0, out=(out[0], whole[0])),
        ]


@program
def ops_without_a_rule(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 4), values(T, 5, 6))
        return [
            tried(lambda: tangent(T, T.floor_divide(dual, 2))),
            tried(lambda: tangent(T, dual // dual)),
            tried(lambda: tangent(T, dual.to_sparse())),
            tried(lambda: tangent(T, dual.view(T.int64))),
        ]


@program
def forward_ad_is_off(T):
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 4), values(T, 5, 6))
        with fw._set_fwd_grad_enabled(False):
            off = fw.unpack_dual(dual * 2), fw._is_fwd_grad_enabled(), fw.unpack_dual(dual)
        with T.no_grad():
            on = fw.unpack_dual(dual * 2)
        with T.inference_mode():
            inference = tangent(T, dual * 2)
        return off, on, inference, fw._is_fwd_grad_enabled()


@program
def tangents_of_another_thread(T):
    fw = T.autograd.forward_ad
    found = []
    with fw.dual_level():
        dual = fw.make_dual(values(T, 3, 4), values(T, 5, 6))
        thread = threading.Thread(target=lambda: found.append(dual * 2))
        thread.start()
        thread.join()
        return found[0]


# -------------------- with backward --------------------


def cubed(x):
    return (x * x * x).sum()


@program
def forward_over_reverse(T):
    fw = T.autograd.forward_ad
    results = []
    for function in (
        cubed,
        lambda x: x.exp().sum(),
        lambda x: (x.tanh() * x.sigmoid()).sum(),
        lambda x: x.prod(),
        lambda x: x.softmax(0)[1],
        lambda x: x.norm(),
        lambda x: x.sqrt().sum(),
        lambda x: x.std(),
    ):
        with fw.dual_level():
            dual = fw.make_dual(values(T, 1, 2, 3).requires_grad_(), values(T, 1, 0, 2))
            (gradient,) = T.autograd.grad(function(dual), dual)
            results.append(fw.unpack_dual(gradient))
    return results


@program
def reverse_over_forward(T):
    fw = T.autograd.forward_ad
    results = []
    for function in (cubed, lambda x: x.cos().sum(), lambda x: (x.sin() * x.log()).sum()):
        x = values(T, 1, 2, 3).requires_grad_()
        direction = values(T, 1, 0, 2).requires_grad_()
        with fw.dual_level():
            found = tangent(T, function(fw.make_dual(x, direction)))
        results.append(T.autograd.grad(found, (x, direction)))
    return results


@program
def a_gradient_that_is_dual(T):
    fw = T.autograd.forward_ad
    x = values(T, 1, 2, 3).requires_grad_()
    with fw.dual_level():
        y = x * x
        (gradient,) = T.autograd.grad(y, x, fw.make_dual(values(T, 1, 1, 1), values(T, 4, 5, 6)))
        return fw.unpack_dual(gradient)


# -------------------- custom functions --------------------


def square_function(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            ctx.factor = factor
            return x * x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad * ctx.factor, None

        @staticmethod
        def jvp(ctx, x_t, factor_t):
            (x,) = ctx.saved_tensors
            return 2 * x * x_t * ctx.factor

    return Square


@program
def a_function_with_a_jvp(T):
    fw = T.autograd.forward_ad
    square = square_function(T)
    with fw.dual_level():
        dual = fw.make_dual(values(T, 1, 2), values(T, 3, 4))
        return fw.unpack_dual(square.apply(dual, 5)), fw.unpack_dual(square.apply(dual * 2, 5) * 2)


@program
def a_function_without_a_jvp(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(values(T, 1, 2), values(T, 3, 4))
        return tried(Square.apply, dual), tangent(T, Square.apply(values(T, 1, 2)))


def jvp_returning(T, result, outputs=1):
    class Any(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2 if outputs == 1 else (x * 2, x * 3)

        @staticmethod
        def jvp(ctx, x_t):
            return result(x_t)

    return Any


@program
def results_of_a_jvp(T):
    fw = T.autograd.forward_ad

    def found(result, outputs=1):
        with fw.dual_level():
            dual = fw.make_dual(values(T, 1, 2), values(T, 3, 4))
            given = jvp_returning(T, result, outputs).apply(dual)
            return [fw.unpack_dual(each) for each in (given if outputs > 1 else [given])]

    return [
        tried(found, lambda t: t * 2),
        tried(found, lambda t: (t, t)),
        tried(found, lambda t: t[:1]),
        tried(found, lambda t: t.float()),
        tried(found, lambda t: t, 2),
        tried(found, lambda t: (t, t, t), 2),
        tried(found, lambda t: 3.0),
    ]


@program
def a_function_that_gives_a_view_or_writes(T):
    class View(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.view(-1)

    class Write(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.mul_(2)

    class Copied(View):
        @staticmethod
        def jvp(ctx, x_t):
            return x_t.reshape(-1).clone()

    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2, 2, dtype=T.float64), T.ones(2, 2, dtype=T.float64))
        view = View.apply(dual)
        copied = tried(lambda: tangent(T, Copied.apply(dual)))
        written = Write.apply(dual)
        return tangent(T, view), copied, written is dual, tangent(T, written)


@program
def missing_tangents_of_a_function(T):
    class Sum(T.autograd.Function):
        materialize = True

        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(Sum.materialize)
            return x + y

        @staticmethod
        def jvp(ctx, x_t, y_t):
            seen.append(y_t)
            return x_t if y_t is None else x_t + y_t

    fw, seen = T.autograd.forward_ad, []
    for Sum.materialize in (True, False):
        with fw.dual_level():
            dual = fw.make_dual(values(T, 1, 2), values(T, 3, 4))
            seen.append(tangent(T, Sum.apply(dual, values(T, 5, 6))))
    return seen


# -------------------- ops that are made of others --------------------


def forward_and_back(T, function, *inputs):
    """The result's tangent, the gradients of inputs with tangents, and their tangents; none counts as zeros."""
    fw = T.autograd.forward_ad
    with fw.dual_level():
        duals = [fw.make_dual(each, T.ones_like(each)).requires_grad_() for each in inputs]
        results = function(*duals)
        results = results if isinstance(results, tuple) else (results,)
        grads = T.autograd.grad(results, duals, [T.ones_like(each) for each in results], create_graph=True)
        parts = [fw.unpack_dual(each) for each in (*results, *grads)]
        zeros = [T.zeros_like(each.primal) if each.tangent is None else each.tangent for each in parts]
        return [each.detach().round(decimals=6) for each in (*(part.primal for part in parts), *zeros)]


@program
def statistics_of_groups(T):
    x = T.arange(12, dtype=T.float64).square().reshape(2, 6)
    ones = T.ones(6, dtype=T.float64)
    return forward_and_back(T, lambda *each: T.native_group_norm(*each, 2, 6, 1, 2, 1e-5), x, ones, ones)


@program
def groups_of_nothing(T):
    x, ones = T.zeros(0, 2, dtype=T.float64), T.ones(2, dtype=T.float64)
    return forward_and_back(T, lambda *each: T.nn.functional.group_norm(each[0], 1, *each[1:]), x, ones, ones)


@program
def rows_that_are_masked(T):
    x = values(T, 1, 2, 3, *[-float("inf")] * 3).reshape(2, 3)
    return forward_and_back(T, lambda x: T.ops.aten._safe_softmax(x, 1), x)


@program
def random_numbers(T):
    """They have no tangents, and gradients of zeros."""
    mean, std = values(T, 1, 2), values(T, 3, 4)
    T.manual_seed(0)
    found = [forward_and_back(T, T.normal, mean, std)]
    found += [forward_and_back(T, lambda mean: T.normal(mean, 2.0), mean)]
    return found, forward_and_back(T, lambda std: T.normal(2.0, std), std)


@program
def random_numbers_of_a_turned_mean(T):
    T.manual_seed(0)
    turned = T.arange(6.0).reshape(2, 3).t()
    results = T.normal(turned, 0.5), T.normal(0.5, turned), T.normal(turned, turned)
    return results, [each.stride() for each in results]


@program
def duals_of_sparse_tensors(T):
    x = T.ones(2, 2, dtype=T.float64)
    found = []
    with T.autograd.forward_ad.dual_level():
        for each in (x.to_sparse(), x.to_sparse_csr(), x.to_sparse_bsc((1, 1))):
            found.append(tried(T.autograd.forward_ad.make_dual, each, each))
    return found


@program
def a_dual_in_channels_last(T):
    """Dimensions of one element keep their strides, which tell the memory format."""
    fw = T.autograd.forward_ad
    x = T.empty_strided((1, 2, 3, 6), (36, 1, 12, 2), dtype=T.float64).fill_(1.0)
    with fw.dual_level():
        dual = fw.make_dual(x, T.ones(1, 2, 3, 6, dtype=T.float64))
        pooled = T.nn.functional.max_pool2d(dual, 2)
        return dual.stride(), tangent(T, dual).stride(), pooled.stride(), tangent(T, pooled).stride()
