"""Small modules of `torch.utils` and private helpers that libraries import, compared with torch's."""

import pickle
from importlib import import_module

import pytest
import torch

import mindtorch


def of(T, module):
    return import_module(f"{T.__name__}.{module}")


def ordered_sets(T):
    OrderedSet = of(T, "utils._ordered_set").OrderedSet
    a, b = OrderedSet([3, 1, 2, 1]), OrderedSet([2, 5, 3])
    yield from (
        list(x) for x in (a | b, a & b, a - b, a ^ b, a.union([9], b), a.intersection([1], b), a.difference([1]))
    )
    yield from (
        a.symmetric_difference(b) == OrderedSet([1, 5]),
        a == {1, 2, 3},
        a <= b,
        a.issuperset([1]),
        repr(a),
        len(a),
    )
    a.update([7], [8]), a.discard(0), a.difference_update([3]), a.add(1)
    yield [*a], a.pop(), [*reversed(a)], [*a.copy()], a.issubset([1, 2, 7, 8])
    a.intersection_update([2, 7]), a.symmetric_difference_update([7, 0])
    yield [*a], 2 in a, list(pickle.loads(pickle.dumps(b)))


def weak_dictionaries(T):
    weak = of(T, "utils.weak")
    keys = [T.ones(2), T.ones(2)]
    table = weak.WeakIdKeyDictionary({keys[0]: "first"})
    table[keys[1]] = "second"
    yield len(table), [table[key] for key in keys], T.ones(2) in table, keys[0] in table, sorted(table.values())
    del table[keys[0]]
    other = table.copy()
    keys.clear()
    yield len(table), list(table), len(other), weak.TensorWeakRef(T.ones(1))(), weak.WeakIdRef(T) == weak.WeakIdRef(T)


def decorators(T):
    contextlib = of(T, "utils._contextlib")
    seen = []

    class Noted(contextlib._DecoratorContextManager):
        def __init__(self, word):
            self.word = word

        def clone(self):
            return type(self)(self.word)

        def __enter__(self):
            seen.append(f"in {self.word}")

        def __exit__(self, *error):
            seen.append(f"out {self.word}")

    @Noted("a")
    def function(x):
        """Twice."""
        return 2 * x

    @Noted("b")
    def generator():
        yield 1
        yield 2

    other = contextlib.context_decorator(lambda: Noted("c"), lambda: 5)
    yield function(2), function.__name__, function.__doc__, list(generator()), other(), seen


def chunks(T):
    tensors = [T.ones(4), T.ones(4, dtype=T.int64), T.ones(2), T.ones(9)]
    for limit in (4, 24, 25, 1000):
        yield [[x.numel() for x in chunk] for chunk in of(T, "_utils")._take_tensors(tensors, limit)]


def groups(T):
    utils = of(T, "utils._foreach_utils")
    x = [T.ones(2), T.ones(1, dtype=T.int64), T.ones(3)]
    for indices in (False, True):
        found = utils._group_tensors_by_device_and_dtype([x, [None] * 3, []], with_indices=indices)
        yield sorted((str(key), [[str(y) for y in z] for z in lists], places) for key, (lists, places) in found.items())
    yield utils._get_fused_kernels_supported_devices(), utils._get_foreach_kernels_supported_devices()


def names_only(T):
    for (
        name
    ) in "qint8 quint8 qint32 quint4x2 quint2x4 int1 int7 uint1 uint7 bits8 bits16 bits1x8 float4_e2m1fn_x2".split():
        dtype = getattr(T, name)
        yield str(dtype), dtype.itemsize, dtype.is_floating_point, dtype.is_complex, isinstance(dtype, T.dtype)
    yield T.int3.is_signed, T.uint3.is_signed, repr(T.jagged), isinstance(T.jagged, T.layout), T.per_tensor_affine
    yield isinstance(T.per_channel_symmetric, T.qscheme)


def schemas(T):
    library = T.library.Library("small_modules", "FRAGMENT")
    texts = (
        "(Tensor A, Tensor! out) -> ()",
        "(Tensor A, *, Tensor! out) -> Tensor!",
        "(Tensor(a!) x, Tensor!? y) -> ()",
        "(Tensor![] x) -> ()",
        "(Tensor! x, Tensor! y) -> (Tensor!, Tensor)",
    )
    for number, text in enumerate(texts):
        library.define(f"op{number}{text}")
        yield str(getattr(T.ops.small_modules, f"op{number}").default._schema)
    with pytest.raises(RuntimeError) as error:
        library.define("bad(Tensor!! x) -> ()")
    yield str(error.value)


def queries(T):
    dispatch = of(T, "utils._python_dispatch")
    yield dispatch.is_traceable_wrapper_subclass(T.ones(1)), of(T, "utils._triton").has_triton()
    yield of(T, "_guards").TracingContext.try_get(), of(T, "_guards").active_fake_mode(), of(T, "_utils").is_compiling()
    yield of(T, "distributions.transforms")._clipped_sigmoid(T.tensor([100.0, -100.0, 0.0])).tolist()
    conv = of(T, "nn.modules.conv")
    yield issubclass(T.nn.ConvTranspose2d, conv._ConvTransposeNd), issubclass(T.nn.Conv2d, conv._ConvTransposeNd)
    with pytest.raises(RuntimeError) as error:
        of(T, "_utils")._get_device_module("nothing")
    yield str(error.value)
    yield of(T, "_dynamo.config").cache_size_limit
    with of(T, "_dynamo.config").patch(cache_size_limit=3):
        yield of(T, "_dynamo.config").cache_size_limit
    yield of(T, "_dynamo.config").cache_size_limit


def fake_modes(T):
    guards, Mode = of(T, "_guards"), of(T, "_subclasses.fake_tensor").FakeTensorMode
    outer, inner = Mode(), Mode()
    x, y = outer.from_tensor(T.ones(2)), inner.from_tensor(T.ones(2))
    yield guards.detect_fake_mode(), guards.detect_fake_mode([T.ones(1), 3]), guards.active_fake_mode()
    yield guards.detect_fake_mode([x]) is outer, guards.detect_fake_mode({"a": [y, (3, y)]}) is inner
    with pytest.raises(AssertionError, match="from fake tensor input 0 doesn't match mode .* from fake tensor input 1"):
        guards.detect_fake_mode([x, y])
    with outer:
        yield guards.active_fake_mode() is outer, guards.detect_fake_mode() is outer, guards.detect_fake_mode(
            [x]
        ) is outer
        with inner:
            yield guards.active_fake_mode() is inner
        with pytest.raises(AssertionError, match="from active fake mode 0 doesn't match mode"):
            guards.detect_fake_mode([T.ones(1), y])


def data_pipes(T):
    pipes = of(T, "utils.data.datapipes.iter")

    def made(items=(1, 2, 3, 4, 5)):
        return pipes.IterableWrapper(list(items))

    yield list(made().batch(2)), list(made().batch(2, drop_last=True)), list(made().map(str)), list(made().filter(bool))
    yield list(made().zip(made("ab"))), list(made().concat(made("ab"))), list(
        pipes.Batcher(made(), 4, wrapper_class=set)
    )
    yield len(made()), len(made().batch(2)), len(made().batch(2, drop_last=True)), len(made().map(str)), repr(made())
    yield len(made().zip(made("ab"))), len(made().concat(made("ab"))), type(next(iter(made().batch(2)))).__name__
    for call in (
        lambda: made().batch(0),
        lambda: len(made().filter(bool)),
        lambda: len(pipes.IterableWrapper(iter([1]))),
    ):
        with pytest.raises((AssertionError, TypeError)) as error:
            call()
        yield str(error.value)
    loader = T.utils.data.DataLoader(made().map(float), batch_size=2)
    yield [batch.tolist() for batch in loader]


CASES = [
    data_pipes,
    ordered_sets,
    weak_dictionaries,
    decorators,
    chunks,
    groups,
    names_only,
    schemas,
    queries,
    fake_modes,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_same(case):
    ours, theirs = [[str(each) for each in case(T)] for T in (mindtorch, torch)]
    assert ours == theirs
