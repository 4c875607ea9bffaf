"""Loaders with workers: batches, seeds, errors and warnings are those of PyTorch."""

import os
import pickle
import random
import re
import signal
import time
import traceback
import warnings

import numpy as np
import pytest

import mindtorch
from tests.parity.support.programs import every_warning

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the datasets below are not picklable")

SECONDS = 60  # no program may hang


def function(T, item=float, count=8):
    """A dataset whose items are what a function makes of their numbers."""

    class Function(T.utils.data.Dataset):
        def __len__(self):
            return count

        def __getitem__(self, index):
            return item(index)

    return Function()


def uneven(T, length=2):
    """A stream of which one worker gives less than another, and which may be longer than it says."""

    class Uneven(T.utils.data.IterableDataset):
        def __iter__(self):
            info = T.utils.data.get_worker_info()
            return iter(range(3 + 4 * (info.id if info else 0)))

        def __len__(self):
            return length

        def __repr__(self):
            return "Uneven()"

    return Uneven()


class Wants(Exception):
    """Cannot be made of a text alone."""

    def __init__(self, first, second):
        super().__init__(first, second)


class HasMessage(Exception):
    message = "a field"

    def __init__(self, message):
        super().__init__(message)


def fail(error, at=3):
    def item(index):
        if index == at:
            raise error
        return index

    return item


def loaded(T, item=float, batch_size=2, workers=2, **options):
    return list(T.utils.data.DataLoader(function(T, item), batch_size, num_workers=workers, **options))


def told(T):
    def item(index):
        info = T.utils.data.get_worker_info()
        seeds = info.seed, T.initial_seed(), T.get_num_threads()
        return (info.id, info.num_workers, type(info.dataset).__name__, info.rng, info.worker_method, *seeds)

    return loaded(T, item, None), T.utils.data.get_worker_info()


def random_items(T, **options):
    random.seed(7)
    items = lambda index: (index, T.rand(()).item(), random.random(), float(np.random.rand()))
    return loaded(T, items, shuffle=True, **options), T.rand(1).item()


def after_an_error(T):
    iterator, seen = iter(T.utils.data.DataLoader(function(T, fail(ValueError("bad"))), 2, num_workers=2)), []
    while True:
        try:
            seen.append(next(iterator))
        except ValueError as error:
            seen.append(str(error).splitlines()[0])
        except StopIteration:
            return seen


def workers_that_stay(T):
    loader = T.utils.data.DataLoader(uneven(T), 2, num_workers=2, persistent_workers=True)
    first = iter(loader)
    processes = [worker.pid for worker in first._workers]
    next(first)
    second = iter(loader)
    batches = list(second), list(loader)
    return batches, first is second is loader._iterator, processes == [worker.pid for worker in second._workers]


def a_sampler_of_ones_own(T):
    class Shuffled:
        begun = 0

        def __iter__(self):
            self.begun += 1
            return iter(T.randperm(8).tolist())

        def __len__(self):
            return 8

    sampler = Shuffled()
    return loaded(T, lambda index: (index, T.rand(()).item()), sampler=sampler), sampler.begun


def longer_than_it_says(T, workers):
    loader = T.utils.data.DataLoader(uneven(T), None, num_workers=workers)
    return len(loader), list(loader)


def set_afterwards(name):
    return lambda T: setattr(T.utils.data.DataLoader(function(T)), name, 1)


PROGRAMS = {
    "what workers are told": told,
    "random numbers": random_items,
    "random numbers of a generator": lambda T: random_items(T, generator=T.Generator().manual_seed(5)),
    "a sampler of one's own": a_sampler_of_ones_own,
    "tensors as indices": lambda T: loaded(T, lambda i: i * 2, 1, 1, batch_sampler=[T.tensor([1, 2]), T.tensor([3])]),
    "out of order": lambda T: loaded(
        T, lambda i: time.sleep(0.6 * (not i)) or i, 1, 2, in_order=False, prefetch_factor=1
    ),
    "many items at once": lambda T: list(
        T.utils.data.DataLoader(T.utils.data.Subset(function(T), [1, 2, 3]), 2, num_workers=1)
    ),
    "long messages": lambda T: [len(each[0]) for each in loaded(T, lambda i: "x" * 300_000, 1, collate_fn=list)],
    "long batches": lambda T: [
        len(each) for each in loaded(T, str, 1, batch_sampler=[list(range(30_000))] * 6, collate_fn=list)
    ],
    "structures": lambda T: loaded(T, lambda i: {"a": (T.ones(2) * i, [np.float32(i)]), "b": str(i)}),
    "shared memory": lambda T: [each.is_shared() for each in loaded(T, lambda i: T.ones(2) * i)],
    "parameters": lambda T: [
        (type(each).__name__, each) for each in loaded(T, lambda i: T.nn.Parameter(T.ones(1)), None, 1)
    ],
    "workers that stay": workers_that_stay,
    "uneven streams": lambda T: list(T.utils.data.DataLoader(uneven(T), 2, num_workers=2)),
    "a stream that is longer than it says": lambda T: longer_than_it_says(T, 0),
    "a stream of workers that is longer than it says": lambda T: longer_than_it_says(T, 2),
    "an error": lambda T: loaded(T, fail(ValueError("bad"))),
    "a KeyError": lambda T: loaded(T, fail(KeyError("key"))),
    "an error of several arguments": lambda T: loaded(T, fail(Wants(1, 2))),
    "an error with a message": lambda T: loaded(T, fail(HasMessage("text"))),
    "after an error": after_an_error,
    "an error of worker_init_fn": lambda T: loaded(T, workers=1, worker_init_fn=lambda number: 1 / 0),
    "an error of collate_fn": lambda T: loaded(T, workers=1, collate_fn=lambda items: 1 / 0),
    "unequal sizes": lambda T: loaded(T, lambda i: T.ones(1 + i), workers=1),
    "shrinking sizes": lambda T: loaded(T, lambda i: T.ones(9 - i), workers=1),
    "items that require grad": lambda T: loaded(T, lambda i: T.ones(1, requires_grad=True), workers=1),
    "integers, then numbers": lambda T: loaded(T, lambda i: T.ones(1, dtype=(T.int64, T.float32)[i % 2]), workers=1),
    "numbers, then integers": lambda T: loaded(T, lambda i: T.ones(1, dtype=(T.float32, T.int64)[i % 2]), workers=1),
    "workers of workers": lambda T: loaded(T, lambda i: loaded(T, workers=1), workers=1),
    "timeout": lambda T: loaded(T, lambda i: time.sleep(0.7), 1, 1, timeout=0.2),
    "timeout without workers": lambda T: loaded(T, workers=0, timeout=1),
    "pinned memory": lambda T: loaded(T, workers=1, pin_memory=True),
    "pinned memory of a device": lambda T: loaded(T, workers=0, pin_memory=True, pin_memory_device="cuda"),
    "more workers than processors": lambda T: T.utils.data.DataLoader(function(T), num_workers=1000) and None,
    "an unknown start method": lambda T: loaded(T, multiprocessing_context="threads"),
    "no start method": lambda T: loaded(T, multiprocessing_context=3),
    "a start method without workers": lambda T: loaded(T, workers=0, multiprocessing_context="fork"),
    "the start method": lambda T: type(
        T.utils.data.DataLoader([1], num_workers=1, multiprocessing_context="fork").multiprocessing_context
    ).__name__,
    "a pickled iterator": lambda T: pickle.dumps(iter(T.utils.data.DataLoader([1]))),
    **{f"set {name}": set_afterwards(name) for name in ("batch_size", "sampler", "dataset", "drop_last", "timeout")},
}


def shown(value, T):
    if isinstance(value, T.Tensor):
        return str(value.dtype), value.requires_grad, value.stride(), value.tolist()
    if isinstance(value, (list, tuple)):
        return [shown(each, T) for each in value]
    return {key: shown(each, T) for key, each in value.items()} if isinstance(value, dict) else value


def text(value):
    return re.sub(r"\(pid(\(s\))? \d+\)", "(pid)", str(value))


def said(error):
    """Of a traceback in a text only the ends: the frames are the library's own."""
    lines = text(error).splitlines()
    cause = error.__cause__ if isinstance(error.__cause__, RuntimeError) else None
    return type(error).__name__, lines[0], lines[1:2], lines[-1], text(cause)


def late(number, frame):
    pytest.fail(f"it hangs in {frame}")


def outcome(program, T):
    T.manual_seed(3)
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(record=True) as caught, every_warning(T):
            warnings.simplefilter("always")
            try:
                result = shown(program(T), T)
            except Exception as error:  # noqa: BLE001 (of whatever type: it is compared)
                result = said(error)
                # They keep the loader. PyTorch's waits five seconds for each worker if collected as garbage; that
                # of mindtorch does if the other library's workers, which are started next, inherit its pipes.
                traceback.clear_frames(error.__traceback__)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return result, [text(each.message) for each in caught if "multi-threaded" not in str(each.message)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_workers(name):
    own, expected = (outcome(PROGRAMS[name], T) for T in (mindtorch, torch))
    assert own == expected
