"""Datasets, samplers and loaders give what those of PyTorch give, with workers and without, and the same errors."""

import random

import numpy as np
import pytest

from tests.parity.support.programs import assert_same, outcome, programs

program, test_program = programs()


def squares(T, count=10):
    class Squares(T.utils.data.Dataset):
        def __len__(self):
            return count

        def __getitem__(self, index):
            return T.tensor(float(index**2)), index, f"item {index}"

    return Squares()


def noisy(T, count=7):
    class Noisy(T.utils.data.Dataset):
        def __len__(self):
            return count

        def __getitem__(self, index):
            info = T.utils.data.get_worker_info()
            worker = -1 if info is None else info.id
            return T.rand(()).item(), random.random(), float(np.random.rand()), worker

    return Noisy()


def stream(T, count=7):
    class Stream(T.utils.data.IterableDataset):
        start, end = 0, count

        def __iter__(self):
            info = T.utils.data.get_worker_info()
            step = 1 if info is None else info.num_workers
            first = 0 if info is None else info.id
            return iter([T.tensor(number) for number in range(self.start + first, self.end, step)])

    return Stream()


LOADERS = {
    "in order": lambda T, D: D.DataLoader(squares(T), batch_size=4),
    "shuffled": lambda T, D: D.DataLoader(squares(T), batch_size=4, shuffle=True),
    "without the rest": lambda T, D: D.DataLoader(squares(T), 3, True, drop_last=True),
    "without batches": lambda T, D: D.DataLoader(squares(T), batch_size=None),
    "of a generator": lambda T, D: D.DataLoader(squares(T), 4, True, generator=T.Generator().manual_seed(3)),
    "of a sampler": lambda T, D: D.DataLoader(squares(T), 4, sampler=D.WeightedRandomSampler([0.1, 0.5, 0.9], 6)),
    "of a batch sampler": lambda T, D: D.DataLoader(
        squares(T), batch_sampler=D.BatchSampler(D.RandomSampler(range(10)), 3, False)
    ),
    "two workers": lambda T, D: D.DataLoader(squares(T), batch_size=3, shuffle=True, num_workers=2),
    "workers that stay": lambda T, D: D.DataLoader(squares(T), 3, True, num_workers=2, persistent_workers=True),
    "random numbers of workers": lambda T, D: D.DataLoader(noisy(T), batch_size=2, num_workers=2),
    "random numbers without batches": lambda T, D: D.DataLoader(noisy(T), batch_size=None, num_workers=2),
    "a stream": lambda T, D: D.DataLoader(stream(T), batch_size=2),
    "a stream without batches": lambda T, D: D.DataLoader(stream(T), batch_size=None),
    "a stream of two workers": lambda T, D: D.DataLoader(stream(T), batch_size=2, num_workers=2),
    "a stream of workers without the rest": lambda T, D: D.DataLoader(
        stream(T), batch_size=2, num_workers=2, drop_last=True
    ),
    "a stream of workers without batches": lambda T, D: D.DataLoader(stream(T), batch_size=None, num_workers=2),
    "stacked": lambda T, D: D.DataLoader(D.StackDataset(squares(T), [[n] for n in range(10)]), batch_size=4),
    "stacked by name": lambda T, D: D.DataLoader(D.StackDataset(a=squares(T), b=list(range(10))), batch_size=4),
    "one behind the other": lambda T, D: D.DataLoader(squares(T) + squares(T, 3), batch_size=5),
    "streams one behind the other": lambda T, D: D.DataLoader(stream(T) + stream(T, 3), batch_size=5),
    "a subset": lambda T, D: D.DataLoader(D.Subset(squares(T), [1, 3, 8]), batch_size=2),
    "of tensors": lambda T, D: D.DataLoader(D.TensorDataset(T.arange(6).view(3, 2), T.ones(3)), batch_size=2),
    "a function of one's own": lambda T, D: D.DataLoader(squares(T), batch_size=4, collate_fn=len),
}


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_loader(name):
    def run(T):
        T.manual_seed(3)
        random.seed(3)
        np.random.seed(3)
        loader = LOADERS[name](T, T.utils.data)
        epochs = [list(loader), list(loader)]
        return epochs, outcome(lambda T: len(loader), T)[0], T.rand(2), random.random()

    assert_same(run)


@program
def workers_can_be_told_what_to_do(T):
    def share(number):
        info = T.utils.data.get_worker_info()
        info.dataset.start, info.dataset.end = 10 * number, 10 * number + 4

    class Plain(T.utils.data.IterableDataset):
        start = end = 0

        def __iter__(self):
            return iter(range(self.start, self.end))

    return list(T.utils.data.DataLoader(Plain(), batch_size=3, num_workers=2, worker_init_fn=share))


@program
def a_random_split(T):
    parts = T.utils.data.random_split(range(10), [0.5, 0.3, 0.2], generator=T.Generator().manual_seed(1))
    return [list(part) for part in parts]


ERRORS = {
    "workers": lambda T, D: D.DataLoader([1], num_workers=-1),
    "timeout": lambda T, D: D.DataLoader([1], timeout=-1),
    "prefetch": lambda T, D: D.DataLoader([1], prefetch_factor=2),
    "negative prefetch": lambda T, D: D.DataLoader([1], num_workers=1, prefetch_factor=-2),
    "persistent": lambda T, D: D.DataLoader([1], persistent_workers=True),
    "shuffled sampler": lambda T, D: D.DataLoader([1], shuffle=True, sampler=[0]),
    "shuffled stream": lambda T, D: D.DataLoader(stream(T), shuffle=True),
    "sampled stream": lambda T, D: D.DataLoader(stream(T), sampler=[0]),
    "batches of a stream": lambda T, D: D.DataLoader(stream(T), batch_sampler=[0]),
    "batch sampler": lambda T, D: D.DataLoader([1], batch_size=2, batch_sampler=[0]),
    "nothing to drop": lambda T, D: D.DataLoader([1], batch_size=None, drop_last=True),
    "batch size": lambda T, D: D.DataLoader([1], batch_size=0),
    "nothing stacked": lambda T, D: D.StackDataset(),
    "stacked twice": lambda T, D: D.StackDataset([1], a=[1]),
    "stacked sizes": lambda T, D: D.StackDataset([1], [1, 2]),
    "a chain of lists": lambda T, D: len(D.ChainDataset([[1]])),
    "no items": lambda T, D: D.Dataset()[0],
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    assert_same(lambda T: ERRORS[name](T, T.utils.data))


@program
def collate_is_where_it_is_in_torch(T):
    return T.utils.data._utils.collate.default_collate([(1, T.ones(1)), (2, T.zeros(1))])
