"""What programs use around tensors: futures, branches as functions, rearranging, random test tensors and more."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()

DTYPES = "float32 float64 float16 bfloat16 complex64 uint8 int8 int16 int32 int64 bool".split()
OPTIONS = (
    {},
    {"low": -3, "high": 5},
    {"low": 0.5, "high": 3.5},
    {"noncontiguous": True},
    {"exclude_zero": True},
    {"requires_grad": True},
    {"low": 3, "high": 3},
    {"low": 5, "high": 2},
    {"low": float("nan")},
)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_make_tensor(dtype, options):
    def make(T):
        T.manual_seed(0)
        return T.testing.make_tensor((2, 3), dtype=getattr(T, dtype), device="cpu", **options)

    assert_same(make)


@program
def shapes_of_made_tensors(T):
    make = T.testing.make_tensor
    shapes = [make(*shape, dtype=T.float32, device="cpu").shape for shape in ((), (2,), ([2, 0],), (T.Size([1]),))]
    both = {"noncontiguous": True, "memory_format": T.contiguous_format}
    return [tuple(shape) for shape in shapes], tried(make, 2, dtype=T.float32, device="cpu", **both)


PATTERNS = [
    ("a b c -> c b a", {}),
    ("a b c -> (a b) c", {}),
    ("a (b d) c -> a b d c", {"d": 3}),
    ("a ... -> ... a", {}),
    ("a b c -> a b c 1", {}),
    ("a b -> b a", {}),
    ("a (b d) c -> a b d c", {}),
    ("a b c", {}),
    ("a b c -> a b c", {"q": 1}),
    ("a a c -> a c", {}),
    ("(...) c -> c (...)", {}),
    ("a b c -> c (...)", {}),
    ("a ... c -> c (... a)", {}),
    ("... (c d) -> ... c d", {"c": 2}),
    ("a b (c d) -> a b c d", {"c": 3}),
    ("a b (c d) -> a b c d", {"c": 3, "d": 2}),
    ("a b c -> (a b c)", {}),
]


@pytest.mark.parametrize(("pattern", "sizes"), PATTERNS)
def test_rearrange(pattern, sizes):
    assert_same(lambda T: tried(T.func.rearrange, T.arange(24).reshape(2, 3, 4), pattern, **sizes))


@program
def rearranged_list(T):
    return T.func.rearrange([T.ones(2), T.zeros(2)], "a b -> b a")


@program
def numbers_that_could_be_symbols(T):
    values = T.sym_int(3.7), T.sym_int(-3.7), T.sym_float(2), T.sym_max(1, 2.5), T.sym_max(3, 2.5), T.sym_min(1, 2.0)
    return values, T.sym_not(3), T.sym_sqrt(4), T.sym_sum([1, 2, 3]), T.sym_sum([]), T.sym_ite(True, 1, 2)


@program
def wrong_numbers(T):
    return [tried(T.sym_ite, True, 1, 2.0), tried(T.sym_max, 1, "a"), tried(T.sym_sqrt, -1), tried(T.get_device, 3)]


@program
def branches_and_loops(T):
    one = T.ones(1)
    chosen = [T.cond(pred, lambda x: x + 1, lambda x: x - 1, (one,)) for pred in (True, T.tensor(False), 1)]
    looped = T.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (T.tensor(0), one))
    return chosen, looped, tried(T.cond, T.tensor([True, False]), lambda: 0, lambda: 1)


@program
def futures(T):
    first, second = T.futures.Future(), T.futures.Future()
    seen = []
    first.add_done_callback(lambda future: seen.append(future.value()))
    following = first.then(lambda future: future.wait() + 1)
    both = T.futures.collect_all([first, second])
    states = [first.done(), both.done()]
    first.set_result(1)
    second.set_result(2)
    first.add_done_callback(lambda future: seen.append("late"))
    states += [following.wait(), both.done(), T.futures.wait_all([first, second]), T.futures.collect_all([]).wait()]
    return states, seen, tried(first.set_result, 3)


@program
def futures_that_fail(T):
    failed = T.futures.Future()
    failed.set_exception(ValueError("bad"))
    following = failed.then(lambda future: future.wait())
    either = T.futures.collect_all([failed, T.jit.fork(lambda: 1)])
    found = [tried(failed.wait), tried(failed.value), tried(following.wait).split("\n")[0], tried(either.wait)]
    return found, tried(T.futures.Future().set_exception, 3), T.jit.wait(T.fork(lambda a, b=1: a + b, 2, b=3))


@program
def swapped_tensors(T):
    a, b = T.ones(2), T.zeros(3)
    a.note = 5
    T.utils.swap_tensors(a, b)
    p, q = T.nn.Parameter(T.ones(1)), T.nn.Parameter(T.zeros(2))
    T.utils.swap_tensors(p, q)
    (p.sum() + 3 * q.sum()).backward()
    return a, b, hasattr(a, "note"), b.note, p, q, p.grad, q.grad


@program
def anomaly_switch(T):
    states = []
    for mode in ((True,), (True, False), (False,)):
        T.set_anomaly_enabled(*mode)
        states.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
    return states


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "bfloat16", "complex64", "int64"))
def test_assert_allclose(dtype):
    def close(T):
        one = T.ones(2, dtype=getattr(T, dtype))
        return tried(T.testing.assert_allclose, one, one * 2), tried(T.testing.assert_allclose, one, one)

    assert_same(close)


@program
def allclose_of_other_things(T):
    close, one, nan = T.testing.assert_allclose, T.ones(2), T.tensor(float("nan"))
    calls = (one, [1, 1.1]), (1, 2), (one, one.double()), ([1.0, 2.0], [1, 2]), (one, T.ones(3)), (nan, nan)
    return [tried(close, *call) for call in calls], tried(close, one, one, rtol=1), tried(close, one, -one, msg="hey")


# -------------------- layers --------------------


@pytest.mark.parametrize("size", (3, 5, 9))
def test_cross_map_norm(size):
    def normed(T):
        x = (T.arange(40.0).reshape(2, 5, 2, 2) / 9 - 2).requires_grad_()
        layer = T.nn.CrossMapLRN2d(size, alpha=0.5, beta=0.6, k=2)
        result = layer(x)
        result.pow(2).sum().backward()
        return result.detach(), x.grad, repr(layer), tried(layer, x[0])

    assert_same(normed)


LOSSES = {
    "plain": {},
    "bias": {"linear_bias": [0.1, 0.2, 0.3]},
    "each": {"reduction": "none"},
    "weighted": {"reduction": "sum", "weight": [0.1, 0.2, 0.3], "label_smoothing": 0.1},
    "ignored": {"ignore_index": 0},
    "bad reduction": {"reduction": "bad"},
    "bad bias": {"linear_bias": [0.0, 1.0]},
}


@pytest.mark.parametrize("name", LOSSES)
def test_linear_cross_entropy(name):
    def loss(T):
        x, w = (T.arange(8.0) - 4).reshape(2, 4) / 3, (T.arange(12.0) - 5).reshape(3, 4) / 7
        options = {key: T.tensor(value) if isinstance(value, list) else value for key, value in LOSSES[name].items()}
        return T.nn.functional.linear_cross_entropy(x, w, T.tensor([2, 0]), **options)

    assert_same(loss)


@program
def linear_cross_entropy_of_more_dimensions(T):
    function = T.nn.functional.linear_cross_entropy
    x, w, target = T.arange(8.0).reshape(2, 4) / 3, T.arange(24.0).reshape(3, 2, 4) / 7, T.tensor([[2, 0], [1, 1]])
    chances = T.tensor([[0.2, 0.3, 0.5], [1, 0, 0]])
    wrong = (x, w[0].t(), target), (x, w[0, 0], target), (x[0], w, target[0])
    found = function(x, w, target, linear_bias=T.arange(6.0).reshape(3, 2)), function(x, w[:, 0], chances)
    return found, [tried(function, *args) for args in wrong], tried(function, x, w[:, 0], chances, ignore_index=1)


@program
def linear_cross_entropy_layer(T):
    T.manual_seed(0)
    layer = T.nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True, ignore_index=1, label_smoothing=0.2)
    loss = layer(T.arange(8.0).reshape(2, 4), T.tensor([[2, 0], [1, 1]]))
    loss.backward()
    return loss.detach(), repr(layer), [(name, each.grad) for name, each in layer.named_parameters()]


@program
def lazy_parameters(T):
    lazy = T.nn.parameter.UninitializedParameter()
    facts = T.nn.parameter.is_lazy(lazy), T.nn.parameter.is_lazy(T.nn.Parameter(T.ones(1))), repr(lazy)
    lazy.materialize((2, 2))
    buffer = T.nn.parameter.UninitializedBuffer(dtype=T.float64)
    buffer.materialize((3,))
    return facts, tuple(lazy.shape), type(lazy).__name__, tuple(buffer.shape), str(buffer.dtype)


@program
def parts_of_a_batch_for_devices(T):
    parallel, layer, x = T.nn.parallel, T.nn.Linear(2, 2), T.ones(4, 2)
    found = [tried(parallel.scatter, x, ["cpu"]), tried(parallel.gather, [x, x], "cpu"), parallel.replicate(layer, [])]
    return found, tried(parallel.parallel_apply, [layer], [x, x]), tried(parallel.replicate, layer, ["cpu"])


# -------------------- sparse --------------------


def sparse(T):
    return T.tensor([[1.0, 0, 2, 0], [0, 0, 0, 0], [3, 4, 0, 5]]).to_sparse()


@pytest.mark.parametrize("dim", (0, 1, 2))
@pytest.mark.parametrize("name", ("softmax", "log_softmax"))
def test_sparse_softmax(name, dim):
    def soft(T):
        start = sparse(T).requires_grad_()
        result = getattr(T.sparse, name)(start, dim)
        (result.to_dense() * T.arange(12.0).reshape(3, 4)).sum().backward()
        return repr(result.detach()), start.grad.to_dense()

    assert_same(soft)


@program
def sparse_softmax_of_other_dimensions(T):
    hybrid = T.arange(12.0).reshape(2, 3, 2).to_sparse(1)
    soft = T.sparse.softmax
    found = soft(sparse(T), -1), T.sparse.log_softmax(hybrid, 2), soft(hybrid, 0), soft(sparse(T), 1, dtype=T.float64)
    return [repr(each) for each in found], tried(soft, sparse(T).int(), 1)


DIAGONALS = [
    (((3, 3), [0, -1, 2], (4, 4)), {}),
    (((3, 3), [0, -1, 2], (4, 4)), {"layout": "sparse_csr"}),
    (((3,), [0], (3, 5)), {}),
    (((2, 3), [0, 0], (3, 5)), {}),
    (((2, 3), [0], (3, 5)), {}),
    (((2, 3), [0, 9], (3, 5)), {}),
    (((2, 3), [0, 1], (3, 5, 2)), {}),
    (((2, 3), [0.0, 1], (3, 5)), {}),
    (((2, 3), [[0, 1]], (3, 5)), {}),
    (((2, 3), [0, 1], (3, 5)), {"layout": "strided"}),
]


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize(("args", "options"), DIAGONALS)
def test_diagonals(args, options):
    def diagonals(T):
        shape, offsets, size = args
        numbers = T.arange(9)[: T.zeros(shape).numel()].reshape(shape)
        layout = {key: getattr(T, value) for key, value in options.items()}
        result = tried(T.sparse.spdiags, numbers, T.tensor(offsets), size, **layout)
        return result if isinstance(result, str) else repr(result)

    assert_same(diagonals)


@program
def products_that_stay_sparse(T):
    x, d = sparse(T), T.ones(4, 2)
    results = T.hspmm(x, d), T.smm(x, d), x.smm(d), T.sspaddmm(T.ones(3, 2).to_sparse(), x, d, beta=2, alpha=3)
    return [repr(each) for each in results], tried(T.smm, d, d), tried(T.hspmm, x, T.ones(3, 2))


# -------------------- devices that are not there --------------------


@program
def accelerators_answer(T):
    names = "current_device_index empty_cache memory_allocated max_memory_reserved memory_stats synchronize".split()
    return [tried(getattr(T.accelerator, name)) for name in names], T.accelerator.is_available()


@program
def xpu_answers(T):
    plain = "is_initialized empty_cache memory_allocated max_memory_allocated is_bf16_supported"
    refusing = "current_device current_stream get_device_name init synchronize"
    return [tried(getattr(T.xpu, name)) for name in f"{plain} {refusing}".split()], T.xpu.manual_seed(3)
