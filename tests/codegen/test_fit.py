"""The words of an entry have to fit its schema: rules, samples and operators for other arguments are refused."""

import pytest

from codegen.load import load
from tests.codegen.project import diagnostics, write_project

SHAPES = """
from mindtorch.backends.meta.more import pooled

_SECOND_DTYPES = {"first_index": 1}


def broadcast(promotion: str):
    rule = RULES[promotion]

    def kernel(*arguments, out=None):
        return deliver(out, rule(*arguments), arguments[0])

    return kernel


def same(promotion: str):
    rule = RULES[promotion]

    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        return _with_second(promotion, input.shape, None, rule(input), out)

    return kernel


def reduce(promotion: str):
    rule = RULES[promotion]

    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        dim = options[0] if options else None
        return _with_second(promotion, input.shape, dim, rule(input), out)

    return kernel


def matmul(promotion: str):
    def kernel(input: Any, other: Any, out: Any = None) -> Any:
        return deliver(out, input.shape[:-1] + other.shape[-1:], input.dtype)

    return kernel


def topk(promotion: str):
    def kernel(input: Any, k: int, dim: int = -1, largest: bool = True, out: Any = None) -> Any:
        return deliver_all(out, [(input.shape, input.dtype)] * 2)

    return kernel


def cat(promotion: str):
    def kernel(tensors: Sequence[Any], dim: int = 0, out: Any = None) -> Any:
        return deliver(out, tensors[0].shape, None)

    return kernel


def searched(promotion: str):
    def kernel(input: Any, value: Any) -> Any:
        return deliver(None, value.shape if is_array(value) else (), input.dtype)

    return kernel


def view(kernel):
    def meta_kernel(input, *arguments):
        return kernel(input, *arguments)

    return meta_kernel


def elsewhere(promotion: str):
    if promotion is not None:
        return _another

    def kernel(size: Sequence[int]) -> Any:
        return new(size)

    return kernel


def new(shape, dtype):
    return shape
"""
POOLED = """
def pooled(promotion: str):
    return _pooled(2)


def _pooled(dims):
    def kernel(input: Any, kernel_size: Ints, mode: str = "", out: Any = None) -> Any:
        return deliver(out, input.shape, input.dtype)

    return kernel
"""
BATCHED = """
_PRODUCTS = {"mm": 1, "mv": 2}


def matmul(op, promotion):
    product = _PRODUCTS[op]

    def rule(batch, input, other):
        return product(batch, input, other)

    return batched(op, rule)


def along(extra=0):
    def make(op, promotion):
        def rule(batch: Batch, input: Any, dim: int) -> Any:
            return run(op, input.shape, dim)

        return batched(op, rule)

    return make


broadcast = along()


def one_by_one(op, promotion=None):
    return batched(op, everywhere(op))


def batched(op, rule):
    def kernel(*args, out=None):
        return rule(*args)

    return kernel
"""
PROMOTION = """
def common(*operands: Any): ...


def first(operand: Any, *others: Any):
    return operand.dtype


def div_mode(input: Any, other: Any, rounding_mode: str | None = None): ...


RULES = {"default": common, "first": first, "first_index": first, "div_mode": div_mode}
"""
SAMPLES = """
def samples(function):
    return function


@samples
def unary(make):
    yield call(make(3))


@samples
def alpha(make):
    yield from unary(make)
    yield call(make(3), 2, alpha=2)
    yield call(*many(make))


@samples
def lists(make):
    yield call(make(2, 3), [0, 1])


@samples
def pairs(make):
    for x, y in every_pair(make):
        yield call(x, y)
    yield call(make(), make.index(2))


def every_pair(make):
    yield 1, 2
"""
MM = "mm(Tensor self, Tensor other) -> Tensor"
EXP = "exp(Tensor self) -> Tensor"
TAKE = "take the word of an op with such arguments (docs/rules.md), or name a meta kernel: dispatch: {Meta: ...}"
GENERATE = "take the word of an op with such arguments, or write a generator in tests/samples.py"
ALL = "write 'batch: one_by_one', which takes every op"


def found_in(root, schema, lines, dispatch="dispatch: {CPU: f}"):
    given = {line.partition(":")[0] for line in lines}
    others = [f"{key}: none" for key in ("shape", "samples") if key not in given]
    keys = (*lines, dispatch, *others)
    write_project(
        root,
        "\n".join(["- func: " + schema, "  family: pointwise", *(f"  {line}" for line in keys)]) + "\n",
        "[]",
        mindtorch__backends__meta__rules=SHAPES,
        mindtorch__backends__meta__more=POOLED,
        mindtorch__backends__batched__rules=BATCHED,
        mindtorch___core__promotion=PROMOTION,
        tests__samples=SAMPLES,
    )
    return diagnostics(root)


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        (MM, ["promotion: first", "shape: matmul"]),
        (EXP, ["promotion: first", "shape: broadcast", "batch: one_by_one"]),
        ("topk(Tensor self, SymInt k) -> (Tensor values, Tensor indices)", ["promotion: first", "shape: topk"]),
        ("cat(Tensor[] tensors, int dim=0) -> Tensor", ["promotion: first", "shape: cat"]),
        ("max(Tensor self, int dim) -> (Tensor a, Tensor b)", ["promotion: first_index", "shape: reduce"]),
        ("find(Tensor self, Scalar value) -> Tensor", ["promotion: first", "shape: searched"]),
        ("pool(Tensor self, int[2] kernel_size, str mode) -> Tensor", ["promotion: first", "shape: pooled"]),
        ("back(Tensor grad, SymInt[] size) -> Tensor", ["promotion: first", "shape: elsewhere"]),
        ("empty(SymInt[] size, Scalar value) -> Tensor", ["promotion: default", "shape: broadcast"]),
        ("add(Tensor self, Tensor? other=None, *, Scalar alpha=1) -> Tensor", ["numbers: other", "samples: alpha"]),
        ("sum(Tensor self, int[1] dim) -> Tensor", ["samples: lists"]),
        (MM, ["samples: pairs", "operators: __matmul__, __rmatmul__"]),
        (EXP, ["samples: unary", "operators: __neg__"]),
    ],
)
def test_words_that_fit(tmp_path, schema, lines):
    assert found_in(tmp_path, schema, lines) == ()


@pytest.mark.parametrize(
    ("schema", "lines", "error", "hint"),
    [
        (EXP, ["promotion: first", "shape: matmul"],
         "4:10: error[E044] the shape rule 'matmul' takes (input, other) but exp has (self)", TAKE),
        ("mul(Tensor self, Scalar other) -> Tensor", ["promotion: first", "shape: matmul"],
         "4:10: error[E044] the shape rule 'matmul' takes a Tensor 'other' where mul has 'Scalar other'", TAKE),
        ("topk(Tensor self, int[] k) -> (Tensor a, Tensor b)", ["promotion: first", "shape: topk"],
         "4:10: error[E044] the shape rule 'topk' takes an int 'k' where topk has 'int[] k'", TAKE),
        ("topk(Tensor self, int k, int dim, int largest) -> (Tensor a, Tensor b)", ["promotion: first", "shape: topk"],
         "4:10: error[E044] the shape rule 'topk' takes a bool 'largest' where topk has 'int largest'", TAKE),
        ("cat(Tensor a, int dim=0) -> Tensor", ["promotion: first", "shape: cat"],
         "4:10: error[E044] the shape rule 'cat' takes a list 'tensors' where cat has 'Tensor a'", TAKE),
        ("pool(Tensor self, int size) -> Tensor", ["promotion: first", "shape: pooled"],
         "4:10: error[E044] the shape rule 'pooled' takes a list 'kernel_size' where pool has 'int size'", TAKE),
        ("max(Tensor self, Tensor other) -> Tensor", ["promotion: first", "shape: reduce"],
         "4:10: error[E044] the shape rule 'reduce' takes no tensor behind (input, ...), and max has 'Tensor other'",
         TAKE),
        ("max(Tensor self) -> (Tensor a, Tensor b)", ["promotion: first", "shape: reduce"],
         "4:10: error[E044] the shape rule 'reduce' gives one result, and max has 2", TAKE),
        ("t(Tensor self) -> Tensor", ["promotion: first_index", "shape: reduce"],
         "3:14: error[E044] the promotion rule 'first_index' gives two dtypes, and t has one result",
         "docs/rules.md says what the words stand for"),
        ("topk(Tensor self, int k) -> Tensor", ["promotion: first", "shape: topk"],
         "4:10: error[E044] the shape rule 'topk' gives several results, and topk has one", TAKE),
        ("mm(Tensor self, Tensor other) -> (Tensor a, Tensor b)", ["promotion: first", "shape: matmul"],
         "4:10: error[E044] the shape rule 'matmul' gives one result, and mm has 2", TAKE),
        (EXP, ["promotion: div_mode", "shape: same"],
         "3:14: error[E044] the promotion rule 'div_mode' needs 2 operands, and the shape rule 'same' has 1 for it",
         "docs/rules.md says what the words stand for"),
        ("pow(Scalar self, Scalar exponent) -> Tensor", ["promotion: first", "shape: broadcast"],
         "3:14: error[E044] the promotion rule 'first' takes a Tensor 'operand' where pow has 'Scalar self'",
         "docs/rules.md says what the words stand for"),
        (EXP, ["promotion: default", "shape: broadcast"],
         "4:10: error[E044] the batching rule 'broadcast' takes (input, dim) but exp has (self)", ALL),
        (EXP, ["batch: matmul"],
         "3:10: error[E044] the batching rule 'matmul' takes (input, other) but exp has (self)", ALL),
        ("outer(Tensor self, Tensor vec2) -> Tensor", ["promotion: first", "shape: matmul"],
         "4:10: error[E044] the batching rule 'matmul' is for mm, mv",
         ALL + ", or add outer to _PRODUCTS in mindtorch/backends/batched/rules.py"),
        (EXP, ["promotion: first", "shape: new"],
         "4:10: error[E036] unknown shape rule 'new'", "define it in mindtorch/backends/meta/rules.py"),
        (EXP, ["samples: every_pair"],
         "3:12: error[E036] unknown generator of samples 'every_pair'", "define it in tests/samples.py"),
        (MM, ["samples: unary"],
         "3:12: error[E045] the samples 'unary' call an op with 1 argument, and mm takes (input, other)", GENERATE),
        ("add(Tensor self, Scalar other) -> Tensor", ["samples: alpha"],
         "3:12: error[E045] the samples 'alpha' call an op with 1 argument, and add takes (input, other)", GENERATE),
        ("add(Tensor self, Scalar other=1) -> Tensor", ["samples: alpha"],
         "3:12: error[E045] the samples 'alpha' call an op with 2 arguments and alpha=, and add takes (input, other)",
         GENERATE),
        ("sum(Tensor self, int dim) -> Tensor", ["samples: pairs"],
         "3:12: error[E045] the samples 'pairs' give sum a Tensor where it takes 'int dim'", GENERATE),
        ("sum(Tensor self, int dim) -> Tensor", ["samples: lists"],
         "3:12: error[E045] the samples 'lists' give sum a list where it takes 'int dim'", GENERATE),
        ("add(Tensor self, Tensor? other=None, *, Scalar alpha=1) -> Tensor", ["samples: alpha"],
         "3:12: error[E045] the samples 'alpha' give add a number where it takes 'Tensor? other=None'", GENERATE),
        (EXP, ["operators: __neg__, __add__"],
         "3:23: error[E035] '__add__' calls an op with 2 arguments, and exp takes 1 argument",
         "bind it to another op: remove it here"),
        (MM, ["operators: __neg__"],
         "3:14: error[E035] '__neg__' calls an op with 1 argument, and mm takes 2 arguments",
         "bind it to another op: remove it here"),
        ("sum(Tensor self, int dim) -> Tensor", ["autogen: inplace", "promotion: first", "shape: reduce"],
         "3:12: error[E044] the shape rule 'reduce' leaves no room for an in-place variant of sum", "remove 'inplace'"),
    ],
)  # fmt: skip
def test_words_that_do_not_fit(tmp_path, schema, lines, error, hint):
    (found,) = found_in(tmp_path, schema, lines)
    assert str(found).splitlines()[0] == f"ops.yaml:{error}"
    assert found.hint == hint


def test_a_view_needs_the_kernel_that_its_shape_asks(tmp_path):
    (found,) = found_in(tmp_path, EXP, ["shape: view"], "dispatch: {NPU: f}")
    assert (
        str(found).splitlines()[0].endswith("error[E044] the shape rule 'view' asks the CPU kernel, and exp has none")
    )
    assert found.hint == "name it: dispatch: {CPU: ...}"


def test_the_states_of_a_diff_may_have_words_that_do_not_fit(tmp_path):
    """An older state is read with the rules of today."""
    assert found_in(tmp_path, EXP, ["promotion: first", "shape: matmul"])
    assert load(tmp_path, but_for=("E044",)).ops["exp"].shape == "matmul"
