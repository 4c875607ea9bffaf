"""Collectives of 2, 3 and 4 processes against a reference computed in each of them."""

import pytest

from tests.distributed.launch import needs_mpi, run


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_collective(ranks):
    assert "2475 cases" in run("table.py", ranks)


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_functional_collectives_and_gradients(ranks):
    assert run("functional.py", ranks).count("functional calls are right") == ranks


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_long_sequence_on_groups_of_some(ranks):
    assert run("sequence.py", ranks).count("10000 calls are right") == ranks


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_large_tensors(ranks):
    assert run("large.py", ranks).count("large tensors are right") == ranks


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_orders_in_memory(ranks):
    assert run("orders.py", ranks).count("orders are right") == ranks
