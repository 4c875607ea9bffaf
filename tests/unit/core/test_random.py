"""Generators and random ops, without PyTorch at hand: seeds, states, and digits of torch's streams."""

import copy
import pickle
import subprocess
import sys

import pytest

import mindtorch as torch
from mindtorch._core.generator import DEFAULT_SEED


class TestGenerator:
    def test_default_seed(self):
        assert torch.Generator().initial_seed() == DEFAULT_SEED

    def test_no_two_processes_draw_the_same(self):
        program = "import mindtorch as torch; print(torch.initial_seed(), torch.rand(4).tolist())"
        first, second = (subprocess.check_output([sys.executable, "-c", program]) for _ in range(2))
        assert first != second

    @pytest.mark.parametrize(("seed", "initial"), [(5, 5), (-1, 2**64 - 1), (2**63, 2**63)])
    def test_manual_seed(self, seed, initial):
        generator = torch.Generator()
        assert generator.manual_seed(seed) is generator and generator.initial_seed() == initial

    @pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
    def test_seed_too_large(self, seed):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            torch.Generator().manual_seed(seed)

    def test_same_seed_same_numbers(self):
        first = torch.rand(5, generator=torch.Generator().manual_seed(3))
        second = torch.rand(5, generator=torch.Generator().manual_seed(3))
        assert first.tolist() == second.tolist()

    @pytest.mark.parametrize(
        "duplicate", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), lambda g: g.clone_state()]
    )
    def test_copies_go_on_alike(self, duplicate):
        generator = torch.Generator().manual_seed(1)
        torch.randn(3, generator=generator)  # leaves a number of a pair over
        twin = duplicate(generator)
        assert torch.randn(4, generator=generator).tolist() == torch.randn(4, generator=twin).tolist()

    def test_state_round_trip(self):
        torch.manual_seed(7)
        torch.rand(11)
        state = torch.get_rng_state()
        assert state.dtype is torch.uint8 and state.numel() == 5056
        first = torch.randn(20)
        torch.set_rng_state(state)
        assert torch.randn(20).tolist() == first.tolist()

    def test_bad_states(self):
        with pytest.raises(TypeError, match="expected a torch.ByteTensor, but got list"):
            torch.set_rng_state([1])
        with pytest.raises(TypeError, match="RNG state must be a torch.ByteTensor"):
            torch.set_rng_state(torch.zeros(3))
        with pytest.raises(RuntimeError, match="but found the input RNG state size to be 3"):
            torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))


class TestStreams:
    """The first numbers of PyTorch's streams for seed 0."""

    def test_uniform(self):
        torch.manual_seed(0)
        assert [round(number, 4) for number in torch.rand(3).tolist()] == [0.4963, 0.7682, 0.0885]

    def test_normal_of_blocks(self):
        torch.manual_seed(0)
        torch.rand(3)
        expected = [-0.4339, 0.8487, 0.6920, -0.3160]
        assert [round(number, 4) for number in torch.randn(20)[:4].tolist()] == expected

    def test_permutation(self):
        torch.manual_seed(7)
        assert torch.randperm(10).tolist() == [5, 0, 3, 4, 1, 7, 9, 6, 8, 2]


class TestErrors:
    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda x: x.uniform_(2, 1), "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
            (lambda x: x.normal_(0, -1), "normal expects std >= 0.0, but found std -1"),
            (lambda x: x.bernoulli_(2.0), "bernoulli_ expects p to be in [0, 1], but got p=2"),
            (lambda x: x.exponential_(0), "exponential_ expects lambda > 0.0, but found lambda=0"),
            (lambda x: x.random_(5, 3), "random_ expects 'from' to be less than 'to', but got from=5 >= to=3"),
            (lambda x: x.byte().random_(0, 300), "to - 1 is out of bounds for unsigned char"),
            (lambda x: torch.multinomial(x, 0), "cannot sample n_sample <= 0 samples"),
        ],
    )
    def test_arguments(self, call, message):
        with pytest.raises(RuntimeError) as raised:
            call(torch.ones(3))
        assert str(raised.value) == message


class TestMultinomial:
    def test_without_replacement_draws_each_once(self):
        drawn = torch.multinomial(torch.ones(50, 10), 10)
        assert (drawn.sort(-1)[0] == torch.arange(10)).all().item()

    def test_impossible_classes_are_never_drawn(self):
        drawn = torch.multinomial(torch.tensor([0.0, 1.0, 0.0, 3.0]), 500, replacement=True)
        assert set(drawn.tolist()) == {1, 3}
