"""Results do not depend on what other threads do, nor on where in memory the operands are: not in a single bit."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import mindtorch as torch
from codegen.keys import POINTWISE
from mindtorch._support.float_errors import quiet
from mindtorch.overrides import TorchFunctionMode
from tests.harness import arguments_of, dtypes_of, function_of, outcome, sampled_ops, samples_of, tensors_in, to_numpy
from tests.samples import Sample, TensorSpec

THREADS = 8
DTYPES = ("float32", "float64", "bfloat16", "complex64", "int64")
LARGE = (150, 150)  # more than one block of the kernels that go in blocks

Call = Callable[[], Any]


def bits_of(value: Any) -> list[tuple[Any, ...]]:
    """The tensors of a result as something that can be compared exactly; nan is equal to itself."""
    dense = [each if each.layout is torch.strided else each.to_dense() for each in tensors_in(torch, value)]
    return [(str(each.dtype), tuple(each.shape), to_numpy(each).tobytes()) for each in dense]


# -------------------- calls of every kernel --------------------


def is_repeatable(op: Any) -> bool:
    """Not if it reads the generator, or gives memory as it is."""
    return not any("nondeterministic" in tag for tag in op.tags) and "empty" not in op.schema.name


def enlarged(value: Any) -> Any:
    """A large array of the numbers of a sample, where it is an array."""
    if isinstance(value, TensorSpec) and value.data.size and value.data.ndim:
        return replace(value, data=np.resize(value.data, LARGE), layout="plain")
    return value


def samples(op: Any, dtype: str) -> Iterator[Sample]:
    """Some samples of an op, and for pointwise ops a large one."""
    all_of_them = [each for each in samples_of(op, dtype) if not each.refusal]
    count = 2 if dtype == "float32" else 1
    yield from all_of_them[:: -(-len(all_of_them) // count) or 1]
    if op.family in (*POINTWISE, "special") and dtype == "float32" and all_of_them:
        last = all_of_them[-1]
        yield replace(last, args=tuple([enlarged(each) for each in last.args]))


def run(op: Any, sample: Sample) -> list[tuple[Any, ...]]:
    args, kwargs = arguments_of(torch, [list(sample.args), sample.kwargs])
    given = outcome(function_of(torch, op), args, kwargs)
    return [(str(given.error),)] if given.error else bits_of(given.result)


def large(*shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def trained(function: Callable[..., Any], *tensors: Any) -> Call:
    """The result of a function and the gradients of its tensors."""

    def call() -> list[tuple[Any, ...]]:
        leaves = [each.detach().clone().requires_grad_() for each in tensors]
        result = function(*leaves)
        (result * result.detach().cos()).sum().backward()
        return bits_of([result, [leaf.grad for leaf in leaves]])

    return call


F = torch.nn.functional
LARGER: dict[str, Call] = {
    "sum": lambda: bits_of([large(300, 70).sum(dim) for dim in (0, 1, (0, 1))]),
    "statistics": lambda: bits_of([large(300, 70).var(0), large(300, 70).std(), large(3000, 3).mean(0)]),
    "norm": lambda: bits_of([large(300, 70).norm(), large(300, 70).logsumexp(0)]),
    "cumsum": lambda: bits_of([large(20000).cumsum(0), large(300, 70).cumsum(0), large(300, 70).cumprod(1)]),
    "sort": lambda: bits_of([large(300, 70).sort(0), large(20000).topk(5), large(300, 70).median()]),
    "einsum": lambda: bits_of(torch.einsum("ijk,lkj->il", large(9, 20, 30), large(8, 30, 20))),
    "broadcast gradient": trained(lambda x, y, z: x * y + z, large(40, 50), large(50), large(40, 1)),
    "few rows": trained(lambda x, y: x * y, large(20, 30), large(30)),
    "linear": trained(F.linear, large(64, 50), large(40, 50), large(40)),
    "softmax": trained(lambda x: F.softmax(x, -1) + F.log_softmax(x, 0), large(90, 110)),
    "small softmax": trained(lambda x: F.softmax(x * 0.1, -1), large(4, 8)),
    "layer_norm": trained(lambda x, w, b: F.layer_norm(x, (70,), w, b), large(90, 70), large(70), large(70)),
    "batch_norm": trained(lambda x, w: F.batch_norm(x, None, None, w, training=True), large(20, 7, 60), large(7)),
    "group_norm": trained(lambda x, w, b: F.group_norm(x, 2, w, b), large(5, 6, 50), large(6), large(6)),
    "conv2d": trained(F.conv2d, large(4, 3, 20, 20), large(5, 3, 3, 3), large(5)),
    "cross_entropy": trained(lambda x: F.cross_entropy(x, torch.arange(200) % 30), large(200, 30)),
    "embedding": trained(lambda w: F.embedding(torch.arange(900) % 13, w), large(13, 20)),
    "attention": trained(F.scaled_dot_product_attention, *[large(2, 3, 60, 16, seed=n) for n in range(3)]),
    "gelu": trained(lambda x: F.gelu(x) + F.silu(x), large(200, 200)),
    "much used": trained(lambda x: sum(x * k for k in range(30)), large(40)),
}


@cache
def calls() -> dict[str, Call]:
    """Calls by name: of every op with samples, and the larger ones."""
    found = dict(LARGER)
    for op in filter(is_repeatable, sampled_ops()):
        for dtype in set(dtypes_of(op)).intersection(DTYPES):
            for number, sample in enumerate(samples(op, dtype)):
                found[f"{op.name} {dtype} {number}"] = lambda op=op, sample=sample: run(op, sample)
    return found


@cache
def alone() -> dict[str, Any]:
    """The results while nothing else runs."""
    return {name: call() for name, call in calls().items()}


def differences(results: dict[str, Any]) -> list[str]:
    return [name for name, result in results.items() if result != alone()[name]]


# -------------------- beside others --------------------


@contextmanager
def switching_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


@contextmanager
def another_thread(work: Callable[[Callable[[], None]], Any]) -> Iterator[None]:
    """While another thread runs `work(wait)`, and waits in it."""
    begun, done = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        done.wait(60)

    thread = threading.Thread(target=work, args=(wait,))
    thread.start()
    try:
        assert begun.wait(60)
        yield
    finally:
        done.set()
        thread.join()


def in_a_mode(wait: Callable[[], None]) -> None:
    with TorchFunctionMode():
        wait()


@pytest.mark.filterwarnings("ignore")
def test_eight_threads_have_the_bits_of_one():
    alone()
    results: list[dict[str, Any]] = [{} for _ in range(THREADS)]

    def work(number: int) -> None:
        for name in (*list(calls())[number::THREADS], *LARGER):
            results[number][name] = calls()[name]()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(map(len, results)) > len(calls())
    assert [differences(each) for each in results] == [[]] * THREADS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("work", [quiet, in_a_mode])
def test_nothing_that_another_thread_holds_decides(work):
    """The context without warnings that the fast paths share, and the count of what looks at calls."""
    alone()
    with another_thread(work):
        results = {name: call() for name, call in calls().items()}
    assert differences(results) == []


# -------------------- elsewhere in memory --------------------

DTYPES_OF_MEMORY = ("float32", "float64", "complex64", "float16")
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: [x.sum(), x.sum(0), x.sum(1), x.t().sum(0), x[:, ::2].sum(0), x[:, :5].sum(0)],
    "mean, var": lambda x: [x.mean(0), x.var(0), x.var(1), x.std()],
    "norm": lambda x: [torch.linalg.vector_norm(x, order, dim) for order in (1, 2, 3) for dim in (0, 1, None)],
    "prod": lambda x: [(x * 0.1 + 1).prod(), x.prod(0), x.prod(1)],
    "cumsum": lambda x: [x.cumsum(0), x.cumsum(1)],
    "mm": lambda x: [x @ x.t(), x.t() @ x, x @ x[:1].t(), x[0] @ x.t()],
    "bmm": lambda x: [x.view(3, 67, -1) @ x.view(3, -1, 67)],
}


@pytest.mark.parametrize("dtype", DTYPES_OF_MEMORY)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_address_does_not_decide(name, dtype):
    """The same numbers with the same strides, one element further on in memory each time."""
    values = np.random.default_rng(0).standard_normal((201, 170)).astype(dtype)
    memory = torch.empty(values.size + 32, dtype=getattr(torch, dtype))
    results = []
    for start in (0, 1, 2, 3, 5, 8, 16, 31):
        x = memory[start : start + values.size].view(values.shape)
        x.copy_(torch.from_numpy(values))
        results.append(bits_of(REDUCTIONS[name](x)))
    assert all(each == results[0] for each in results)
