"""What a launch on the NPU costs above the two calls of ACLNN that it is: `make bench-npu`; needs a C compiler.

Every kernel of the table that launches, on the first small sample that reaches it. Three things are timed in turn,
round by round, and the fastest round counts: the call as programs make it, the kernel on its arrays, and the two calls
of each launch with descriptors and workspace that are there already. The stream is paused, so that the simulated device
computes nothing meanwhile, and what is measured is the program's side alone.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import mindtorch as torch
from mindtorch.backends.npu.runtime import allocator, stream
from mindtorch.dispatch.registry import find_op, kernel_table
from tests.device.sweep import moved
from tests.harness import arguments_of, dtypes_of, inplace_samples, outcome, sampled_ops, samples_of, variant
from tests.npu import simulator

RESULTS = Path(__file__).with_name("launches.md")
LIMIT = 12  # microseconds that a launch may cost above its two calls
Work = Callable[[], Any]
Seen = tuple[Any, tuple[Any, ...], dict[str, Any]]  # what was called, with what
DTYPES = ("float32", "int64", "bool")


@dataclass
class Case:
    """A call that launches, as it reached each layer."""

    name: str
    work: Work
    kernel: Work
    launches: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    is_generated: bool = True


@dataclass
class Figures:
    """Of a case: microseconds of the call, of its kernel, and of the two calls of ACLNN of each launch."""

    case: Case
    work: float
    kernel: float
    calls: float

    @property
    def above(self) -> float:
        """What a launch costs besides, the op's dispatch and results included."""
        return (self.work - self.calls) / len(self.case.launches)

    @property
    def above_in_kernel(self) -> float:
        """The same without the dispatch."""
        return (self.kernel - self.calls) / len(self.case.launches)


# -------------------- finding the calls --------------------


class _Recorder:
    """Stands where a prepared call or a kernel stands, and notes what arrives."""

    def __init__(self, call: Any, seen: list[Seen]) -> None:
        self.call = call
        self.seen = seen

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launches that are refused are none; what the call comes to instead is not timed."""
        result = self.call(*args, **kwargs)
        self.seen.append((self.call, args, kwargs))
        return result

    def __getattr__(self, name: str) -> Any:  # what else calls have is not timed
        return getattr(self.call, name)


@contextmanager
def recorded_launches() -> Iterator[list[Seen]]:
    """The launches of the block, with their arrays and numbers."""
    from_launch = sys.modules["mindtorch.backends.npu.launch"].aclnn
    modules = [each for name, each in sys.modules.items() if ".npu." in name]
    places = [(each, name, call) for each in modules for name, call in vars(each).items() if type(call) is from_launch]
    seen: list[Seen] = []
    for module, name, call in places:
        setattr(module, name, _Recorder(call, seen))
    try:
        yield seen
    finally:
        for module, name, call in places:
            setattr(module, name, call)


@contextmanager
def recorded_kernel(op: str) -> Iterator[list[Seen]]:
    """The calls of an op's kernel in the block."""
    table, array_class = kernel_table(op), type(torch.empty(1, device="npu")._mt_array)
    kernel = table.get(array_class)
    seen: list[Seen] = []
    if kernel is not None:
        table[array_class] = _Recorder(kernel, seen)
    try:
        yield seen
    finally:
        if kernel is not None:
            table[array_class] = kernel


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
    case = Case(op.name, work, partial(kernel, *args, **kwargs), [(call, given) for call, given, _ in launches])
    case.is_generated = kernel.__module__.split(".")[-3:-1] == ["kernels", "npu"]
    return case


# -------------------- timing --------------------


class Prepared:
    """The two calls of each launch of a case, with everything that they take."""

    def __init__(self, launches: list[tuple[Any, tuple[Any, ...]]]) -> None:
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
def measured(case: Case, rounds: int, calls: int) -> Figures:
    prepared = Prepared(case.launches)
    torch.npu.synchronize()
    with simulator.start().idle():
        rows = [[seconds(each, calls) * 1e6 for each in (case.work, case.kernel, prepared)] for _ in range(rounds)]
    return Figures(case, *map(min, zip(*rows)))


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
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=40, help="calls of a round")
    options = parser.parse_args()
    simulator.start()
    warnings.simplefilter("ignore")
    figures = []
    for op in sampled_ops():
        for form in filter(None, (op, variant(op, "inplace"))):
            if not options.only or form.name in options.only:
                case = case_of(form)
                figures += [measured(case, options.rounds, options.calls)] if case else []
    text = report(figures)
    print(text)
    if not options.only:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
