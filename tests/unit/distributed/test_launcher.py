"""The launcher without MPI: its options, the processes that it starts, and what is said of those that fail."""

import json
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import pytest

from mindtorch.distributed.elastic.multiprocessing import agent
from mindtorch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from mindtorch.distributed.engines import joining
from mindtorch.distributed.errors import DistBackendError
from mindtorch.distributed.rendezvous import rendezvous
from mindtorch.distributed.run import check, command, parser, plan, serve
from mindtorch.distributed.tcp_store import TCPStore


def planned(*arguments, folder):
    options = parser().parse_args(arguments)
    check(options)
    return plan(options, folder, serve(options))


def test_environment_of_the_processes(tmp_path):
    program = 'echo "$RANK $LOCAL_RANK $WORLD_SIZE $MASTER_ADDR $TORCHELASTIC_RUN_ID" > $OUT/$RANK'
    made = planned(
        "--nproc-per-node=2", "--rdzv-endpoint=localhost", "--rdzv-id=7", "--rdzv-backend=c10d", "--no-python",
        "sh", "-c", program, folder=tmp_path,
    )  # fmt: skip
    agent.run(agent.Plan(**{**vars(made), "environment": {**made.environment, "OUT": str(tmp_path)}}))
    assert (tmp_path / "1").read_text() == "1 1 2 localhost 7\n"
    assert made.environment["MASTER_PORT"] == str(made.store.port)


@pytest.mark.parametrize("options", [[], ["--standalone"], ["--master-addr=localhost"]])
def test_programs_that_start_at_the_same_moment_meet_in_stores_of_their_own(options):
    chosen = parser().parse_args([*options, "program.py"])
    launchers = [serve(chosen) for _ in range(5)]  # none of their processes runs yet
    for number, each in enumerate(launchers):
        TCPStore("localhost", each.port).set("number", str(number))
    assert [each.get("number") for each in launchers] == [b"0", b"1", b"2", b"3", b"4"]
    with pytest.raises(SystemExit, match=f"can't meet at port {launchers[0].port}: .*EADDRINUSE"):
        serve(parser().parse_args([f"--master-port={launchers[0].port}", "program.py"]))


def test_each_attempt_has_entries_of_its_own(tmp_path, monkeypatch):
    store = serve(options := parser().parse_args(["--nproc-per-node=2", "program.py"]))
    for name, value in plan(options, tmp_path, store).environment.items():
        monkeypatch.setenv(name, value)
    found = []
    for attempt in ("0", "1"):
        monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", attempt)
        found.append(rendezvous("env://", 1, 2, timedelta(seconds=5))[0])
    found[0].set("key", "value")
    assert found[0].check(["key"]) and not found[1].check(["key"])


def test_a_rank_has_one_process(tmp_path):
    joining._take_place(tmp_path, 0)
    joining._take_place(tmp_path, 1)
    with pytest.raises(DistBackendError, match=f"process {os.getpid()} is the one of rank 1 already"):
        joining._take_place(tmp_path, 1)
    assert {each.name for each in tmp_path.iterdir()} == {"process0", "process1"}


def test_one_failure_ends_the_others(tmp_path):
    program = "if [ $RANK = 1 ]; then exit 3; fi; exec sleep 60"
    before = time.monotonic()
    with pytest.raises(ChildFailedError) as raised:
        agent.run(planned("--nproc-per-node=3", "--no-python", "sh", "-c", program, folder=tmp_path))
    assert time.monotonic() - before < 20
    rank, failure = raised.value.get_first_failure()
    assert (rank, failure.exitcode, list(raised.value.failures)) == (1, 3, [1])


def test_a_killed_process_leaves_the_others_if_they_are_to_go_on(tmp_path):
    program = f"if [ $RANK = 1 ]; then kill -9 $$; fi; sleep 0.3; echo $RANK > {tmp_path}/done"
    made = planned("--nproc-per-node=2", "--keep-going", "--no-python", "sh", "-c", program, folder=tmp_path)
    agent.run(made)
    assert (tmp_path / "done").read_text() == "0\n"
    with pytest.raises(ChildFailedError, match="Signal 9 \\(SIGKILL\\) received by PID"):
        agent.run(planned("--nproc-per-node=2", "--no-python", "sh", "-c", program, folder=tmp_path))


def test_restarts(tmp_path):
    program = f'echo $TORCHELASTIC_RESTART_COUNT >> {tmp_path}/tries; [ "$TORCHELASTIC_RESTART_COUNT" = 2 ]'
    agent.run(planned("--max-restarts=3", "--no-python", "sh", "-c", program, folder=tmp_path))
    assert (tmp_path / "tries").read_text().split() == ["0", "1", "2"]


def test_output(tmp_path, capfdbinary):
    program = "echo out $RANK; echo err $RANK >&2"
    options = ["--nproc-per-node=2", "--tee=0:1", "--redirects=1:3", "--role=r", "--no-python", "sh", "-c", program]
    agent.run(planned(*options, folder=tmp_path))
    assert (tmp_path / "attempt_0/0/stdout.log").read_text() == "out 0\n"
    assert (tmp_path / "attempt_0/1/stderr.log").read_text() == "err 1\n"
    shown = capfdbinary.readouterr()
    assert (shown.out, shown.err) == (b"[r0]:out 0\n", b"err 0\n")


def test_a_signal_ends_all(tmp_path):
    made = planned("--nproc-per-node=2", "--no-python", "sleep", "60", folder=tmp_path)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(agent.SignalException) as raised:
        agent.run(made)
    assert raised.value.sigval == signal.SIGTERM


def test_recorded_exceptions(tmp_path, monkeypatch):
    path = tmp_path / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))

    @record
    def main(code):
        sys.exit(code) if code is not None else broken()

    def broken():
        raise ValueError("the fault")

    assert main(0) is None and not path.exists()
    with pytest.raises(SystemExit):
        main(3)
    with pytest.raises(ValueError, match="the fault"):
        main(None)
    assert json.loads(path.read_text())["message"]["message"] == "ValueError: the fault"
    failure = ProcessFailure(1, 77, 1, str(path))
    assert "ValueError: the fault" in failure.text(0) and "in broken" in failure.text(0)
    assert "FAILED" in ChildFailedError("prog.py", {1: failure}).format_msg()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--nnodes=2"], "several machines need --hostfile"),
        (["--nnodes=1:3"], "the number of machines is fixed"),
        (["--node-rank=1"], "mpiexec starts those of the others"),
        (["--rdzv-backend=etcd"], "there are static and c10d"),
        (["--rdzv-conf=a=1"], "nothing to configure"),
        (["--max-restarts=-1"], "takes 0 or more"),
        (["--nproc-per-node=-1"], "--nproc-per-node takes a positive number, not '-1'"),
        (["--tee=7"], "--tee takes 0, 1, 2 or 3"),
        (["--redirects=5:1"], "names the rank '5', but there are 1 processes"),
    ],
)
def test_refused_options(arguments, text, tmp_path):
    with pytest.raises(SystemExit, match=text):
        planned(*arguments, "program.py", folder=tmp_path)


def test_several_machines(monkeypatch):
    monkeypatch.setattr("mindtorch.distributed.engines.joining.mpiexec", lambda: "/bin/mpiexec")
    made = command(parser().parse_args(["--nproc-per-node=3", "--nnodes=2", "--hostfile=h", "-m", "program", "--lr=1"]))
    assert made[:6] == ["/bin/mpiexec", "--with-ft", "ulfm", "--oversubscribe", "-n", "6"]
    assert made[-3:] == ["module", "program", "--lr=1"] and "--hostfile" in made
