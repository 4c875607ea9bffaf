"""Programs of several processes: messages, mismatches, faults and training."""

import re

import pytest

from tests.distributed.launch import needs_mpi, run

pytestmark = needs_mpi


@pytest.mark.parametrize("ranks", [2, 3])
def test_messages_groups_and_objects(ranks):
    assert run("messages.py", ranks).count("all well") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_processes_that_do_different_things_are_told(ranks):
    assert run("mismatches.py", ranks).count("went on") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_training_equals_that_of_one_process(ranks):
    assert run("data_parallel.py", ranks).count("equal") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_options_of_training(ranks):
    assert run("data_parallel_options.py", ranks).count("equal") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_gradients_sent_as_factors(ranks):
    assert run("power_sgd.py", ranks, "mindtorch").count("equal") == ranks


@pytest.mark.parametrize("ranks", [1, 3])
def test_training_goes_on_in_another_number_of_processes(tmp_path, ranks):
    assert run("checkpoints.py", 2, "save", str(tmp_path)).count("equal") == 2
    assert run("checkpoints.py", ranks, "load", str(tmp_path)).count("equal") == ranks


def test_meshes():
    assert run("meshes.py", 4).count("equal") == 4


@pytest.mark.parametrize("ranks", [2, 3])
def test_an_optimizer_with_its_state_spread(ranks):
    assert run("sharded_optimizer.py", ranks).count("equal") == ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_spread_tensors(ranks):
    assert run("spread_tensors.py", ranks).count("equal") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_ops_on_spread_tensors(ranks):
    assert run("spread_ops.py", ranks).count("equal") == ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_tensor_parallel_models(tmp_path, ranks):
    assert run("tensor_parallel.py", ranks, str(tmp_path)).count("equal") == ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_spread_models(tmp_path, ranks):
    assert run("spread_models.py", ranks, "save", str(tmp_path)).count("equal") == ranks
    assert run("spread_models.py", 3, "load", str(tmp_path)).count("equal") == 3


def test_the_example():
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    printed = run("../../../examples/digits_distributed.py", 2, "--epochs", "2", "--bar")
    assert float(re.findall(r"test accuracy ([\d.]+)", printed)[-1]) > 0.6, printed
    assert "times as fast" in printed and "█" in printed, printed


_SAID = re.compile(r"rank (\d) after ([\d.]+) s: MPI communicator encountered error set by ProcessGroupMPI: (.*)")


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("at", [0, 13])
def test_a_killed_process(ranks, at):
    printed = run("faults.py", ranks, "kill", str(at))
    said = _SAID.findall(printed)
    assert {int(rank) for rank, _, _ in said} == set(range(ranks - 1)), printed
    assert any("has died" in text for _, _, text in said), printed
    assert printed.count(f"went on with {ranks - 1} processes to 5.0") == ranks - 1, printed


def test_a_process_that_is_late():
    said = _SAID.findall(run("faults.py", 2, "sleep", "5"))
    first = next(each for each in said if each[0] == "0")
    assert "Watchdog caught collective operation timeout: WorkMPI(SeqNum=6, OpType=ALLREDUCE" in first[2]
    assert 3 <= float(first[1]) < 6


def test_a_process_that_leaves():
    said = _SAID.findall(run("faults.py", 2, "leave", "5"))
    assert [rank for rank, _, _ in said] == ["0"] and float(said[0][1]) < 3


def test_an_exception_ends_all_processes():
    printed = run("faults.py", 3, "raise_an_error", "5", code=1)
    assert "the data of this process is broken" in printed and "nothing happened" not in printed


def test_a_survivor_that_was_given_up():
    printed = run("regrouping.py", 3, seconds=30)
    for rank, other in ((0, 2), (2, 0)):
        text = f"rank {rank} after .* s: .*the process of rank {other} did not come to shrink_group in time"
        assert re.search(text, printed), printed
