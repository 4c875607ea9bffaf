"""What a launch on the NPU costs above the two calls of ACLNN that it is: `make bench-npu`; needs a C compiler.

Every kernel of the table that launches, on the first small sample that reaches it. Three things are timed in turn: the
call as programs make it, the kernel on its arrays, and the two calls of each launch with descriptors and workspace that
are there already. The stream is paused, so that the simulated device computes nothing meanwhile, and what is measured
is the program's side alone.

Other programs on the machine only ever make a call slower, so the fastest batch of each counts. Batches are short, for
few of them to be interrupted. The whole table is gone through several times, and a case is left each time when so many
rounds have brought nothing faster.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from unittest.mock import patch

import mindtorch as torch
from mindtorch.backends.npu.launch import aclnn
from mindtorch.backends.npu.runtime import allocator, stream
from mindtorch.dispatch.registry import find_op, kernel_table
from tests.device.sweep import moved
from tests.harness import arguments_of, dtypes_of, inplace_samples, outcome, sampled_ops, samples_of, variant
from tests.npu import simulator

RESULTS = Path(__file__).with_name("launches.md")
LIMIT = 12  # microseconds that a launch may cost above its two calls
LASTING = 8  # rounds without a faster batch after which a case is left
Work = Callable[[], Any]
Launch = tuple[Any, tuple[Any, ...]]  # what was called, with what
DTYPES = ("float32", "int64", "bool")


@dataclass
class Case:
    """A call that launches, as it reached each layer."""

    name: str
    work: Work
    kernel: Work
    launches: list[Launch] = field(default_factory=list)
    is_generated: bool = True


@dataclass
class Figures:
    """Of a case: microseconds of the call, of its kernel, and of the two calls of ACLNN of each launch."""

    case: Case
    work: float = inf
    kernel: float = inf
    calls: float = inf

    def improve(self, *found: float) -> bool:
        """Take the times of a round that are faster; whether one of them is, by more than the clock can tell."""
        before = self.work, self.kernel, self.calls
        self.work, self.kernel, self.calls = map(min, before, found)
        return any(new < 0.99 * old for new, old in zip(found, before))

    @property
    def above(self) -> float:
        """What a launch costs besides, the op's dispatch and results included."""
        return (self.work - self.calls) / len(self.case.launches)

    @property
    def above_in_kernel(self) -> float:
        """The same without the dispatch."""
        return (self.kernel - self.calls) / len(self.case.launches)


# -------------------- finding the calls --------------------


@contextmanager
def recorded_launches() -> Iterator[list[Launch]]:
    """The launches of the block, with their arrays and numbers. Those that are refused are none."""
    plain = aclnn.__call__
    seen: list[Launch] = []

    def noting(call: Any, *given: Any) -> None:
        plain(call, *given)
        seen.append((call, given))

    with patch.object(aclnn, "__call__", noting):
        yield seen


@contextmanager
def recorded_kernel(op: str) -> Iterator[list[tuple[Any, tuple[Any, ...], dict[str, Any]]]]:
    """The calls of an op's kernel in the block."""
    table, array_class = kernel_table(op), type(torch.empty(1, device="npu")._mt_array)
    seen: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
    if array_class not in table:
        yield seen
        return
    kernel = table[array_class]

    def noting(*args: Any, **kwargs: Any) -> Any:
        seen.append((kernel, args, kwargs))
        return kernel(*args, **kwargs)

    with patch.dict(table, {array_class: noting}):
        yield seen


def spellings(op: Any) -> Iterator[Callable[..., Any]]:
    """How programs call an op, the most usual one first."""
    for place in (torch, torch.nn.functional, torch.special, torch.linalg, torch.Tensor):
        if hasattr(place, op.schema.name):
            yield getattr(place, op.schema.name)
    entry = find_op(op.name)
    if entry is not None:
        yield entry.function


def calls_of(op: Any) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Samples of an op, those of float32 first."""
    samples = inplace_samples if op.derived_from else samples_of
    for dtype in DTYPES:
        if dtype in dtypes_of(op):
            for sample in samples(op, dtype):
                yield moved(arguments_of(torch, [list(sample.args), sample.kwargs]), "npu")


def case_of(op: Any) -> Case | None:
    """The first call of an op that is one call of its kernel, which launches."""
    for args, kwargs in calls_of(op):
        for function in spellings(op):
            if not outcome(function, args, kwargs).error:
                found = _recorded(op, partial(function, *args, **kwargs))
                if found is not None:
                    return found
    return None


@torch.no_grad()
def _recorded(op: Any, work: Work) -> Case | None:
    """A case, unless the call is refused, or fails on the device."""
    refused = outcome(work, (), {}).error or outcome(torch.npu.synchronize, (), {}).error
    simulator.recover()
    if refused:
        return None
    device = simulator.start()
    with recorded_kernel(op.derived_from or op.name) as kernels, recorded_launches() as launches:
        waits = device.stats()["synchronizations"]
        result = work()
        waits = device.stats()["synchronizations"] - waits
    if len(kernels) != 1 or not launches or waits:
        return None
    kernel, args, kwargs = kernels[0]
    del result
    case = Case(op.name, work, partial(kernel, *args, **kwargs), launches)
    case.is_generated = kernel.__module__.split(".")[-3:-1] == ["kernels", "npu"]
    return case


# -------------------- timing --------------------


class Prepared:
    """The two calls of each launch of a case, with everything that they take."""

    def __init__(self, launches: list[Launch]) -> None:
        self.size, self.executor = c_uint64(), c_void_p()
        self.own = stream.current(0)
        self.kept: list[Any] = []
        self.launches = [self._prepared(call, given) for call, given in launches]

    def _prepared(self, call: Any, given: tuple[Any, ...]) -> tuple[Work, Work]:
        arguments, _ = call.described(given)
        self.kept.append(given)
        self.kept.append(arguments)
        first = partial(call._first, *arguments, byref(self.size), byref(self.executor))
        assert first() == 0
        block = allocator.pool_of(0).allocate(self.size.value, self.own) if self.size.value else None
        self.kept.append(block)
        address = block.address if block else None
        second = partial(call._second, address, self.size.value, self.executor, self.own.handle)
        assert second() == 0
        return first, second

    def __call__(self) -> None:
        for first, second in self.launches:
            first()
            second()


def seconds(function: Work, calls: int) -> float:
    """How long a call takes, on the average of some."""
    rest = range(calls)
    with simulator.start().paused():
        function()
        begin = time.perf_counter()
        for _ in rest:
            function()
        end = time.perf_counter()
    torch.npu.synchronize()
    return (end - begin) / calls


@torch.no_grad()
def visit(figures: Figures, calls: int) -> None:
    """Time a case until it gets no faster."""
    prepared = Prepared(figures.case.launches)
    torch.npu.synchronize()
    with simulator.start().idle():
        since = 0
        while since < LASTING:
            found = [seconds(each, calls) * 1e6 for each in (figures.case.work, figures.case.kernel, prepared)]
            since = 0 if figures.improve(*found) else since + 1


# -------------------- the report --------------------


def report(figures: list[Figures]) -> str:
    figures = sorted(figures, key=lambda each: -each.above)
    generated = [each for each in figures if each.case.is_generated]
    lines = [
        "# What launches on the NPU cost",
        "",
        "On the simulated device, in microseconds: the call as programs make it, its kernel, the two calls of ACLNN "
        "with everything prepared, and what one launch costs above these. Written by `make bench-npu`. `*`: by hand.",
        "",
        f"{len(figures)} ops, {len(generated)} of them with generated kernels.",
        "",
        _summary("Above the two calls, the op as programs call it", [each.above for each in figures]),
        _summary("Its kernel alone, new results included", [each.above_in_kernel for each in figures]),
        _summary("Generated kernels alone", [each.above_in_kernel for each in generated]),
        "",
        "| op | call | kernel | ACLNN | launches | above, each |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for each in figures:
        name = each.case.name + ("" if each.case.is_generated else " \\*")
        numbers = f"{each.work:.1f} | {each.kernel:.1f} | {each.calls:.1f} | {len(each.case.launches)}"
        lines.append(f"| {name} | {numbers} | {each.above:.1f} |")
    return "\n".join(lines) + "\n"


def _summary(what: str, above: list[float]) -> str:
    tenths = quantiles(above, n=10) if len(above) > 1 else above * 9
    too_much = sum(each > LIMIT for each in above)
    return f"- {what}: median {median(above):.1f}, nine tenths below {tenths[8]:.1f}, {too_much} above {LIMIT}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="only these ops; the results file is left alone")
    parser.add_argument("--visits", type=int, default=3, help="how often the table is gone through")
    parser.add_argument("--calls", type=int, default=20, help="calls of a batch")
    options = parser.parse_args()
    simulator.start()
    warnings.simplefilter("ignore")
    figures = []
    for op in sampled_ops():
        for form in filter(None, (op, variant(op, "inplace"))):
            if not options.only or form.name in options.only:
                case = case_of(form)
                figures += [Figures(case)] if case else []
    for each in figures * options.visits:
        visit(each, options.calls)
    text = report(figures)
    print(text)
    if not options.only:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
