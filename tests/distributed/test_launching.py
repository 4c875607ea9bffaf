"""Programs that start their own processes; the launcher's restarts and summary; dumps of faulty runs."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mindtorch.distributed.flight_recorder import report
from tests.distributed.launch import PROGRAMS, launch, needs_mpi, start

pytestmark = needs_mpi


def free_port():
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("how", ["environment", "tcp", "file"])
def test_processes_of_spawn_make_a_group(how, tmp_path):
    port = str(free_port())
    place = {"environment": how, "tcp": f"tcp://localhost:{port}", "file": f"file://{tmp_path / 'store'}"}[how]
    printed = start(str(PROGRAMS / "spawned.py"), place, port)
    assert printed.count("gloo rank") == 2


def test_a_store_answers_while_its_process_begins_mpi():
    assert start(str(PROGRAMS / "slow_answers.py")).count("[2.0, 2.0, 2.0]") == 2


def test_an_exception_of_a_spawned_process_is_raised_where_it_was_started(tmp_path):
    printed = start(str(PROGRAMS / "spawned.py"), f"file://{tmp_path / 'store'}", "0", "broken")
    assert "-- Process 1 terminated with the following error:" in printed and "process is broken" in printed


PROGRAM = str(PROGRAMS / "launched.py")


def test_restarts_of_programs_that_start_at_the_same_moment():
    with ThreadPoolExecutor(2) as pool:
        restarted = lambda _: launch("--nproc-per-node=2", "--max-restarts=2", PROGRAM, "restart")  # noqa: E731
        for printed in pool.map(restarted, range(2)):
            assert printed.count("done in attempt 1") == 2
            # The other one fails because of it, and may end before: see below.
            assert re.search(r"rank 1 failed with exit code (1|-15) ", printed) and "2/2 attempts left" in printed


def test_the_summary_names_the_first_failure():
    printed = launch("--nproc-per-node=2", PROGRAM, "fail", code=1)
    summary = printed[printed.index("launched.py FAILED") :]
    assert "Root Cause (first observed failure)" in summary and "ValueError: the data" in summary
    root = summary[summary.index("Root Cause") :]
    # The other one fails because of it, and may end before: the launcher then ends the first one on its way out.
    assert "rank      : 1 (local_rank: 1)" in root and re.search(r"exitcode  : (1|-15) \(pid: ", root), root


def test_output_in_files_and_on_the_console(tmp_path):
    options = ["--nproc-per-node=2", "--log-dir", str(tmp_path), "--tee=0:1", "--redirects=1:3", "--role=r"]
    printed = launch(*options, PROGRAM, "restart", code=1)
    logs = {path.relative_to(path.parents[2]).as_posix() for path in tmp_path.rglob("*.log")}
    assert {"attempt_0/0/stdout.log", "attempt_0/1/stdout.log", "attempt_0/1/stderr.log"} <= logs
    assert "the first attempt" in next(tmp_path.rglob("1/stderr.log")).read_text()
    assert "launched.py FAILED" in printed


def test_a_process_that_is_killed_before_it_begins_is_seen_at_once():
    printed = launch("--keep-going", "--nproc-per-node=3", PROGRAM, "early", OMP_NUM_THREADS="1")
    # Of the two that live, the first one to notice may have ended when the other looks.
    assert len(re.findall("after 0 s: the process of rank (?:0, 1|1|1, 2) has died", printed)) == 2, printed


WRONG = {
    "late": "call 4: ranks 0, 1 did not come back from call 4, all_reduce(Float[4]); rank 1 came",
    "kill": "rank 1 left no dump: ended, killed or stopped",
    "mismatch": "call 4: the processes differ: rank 0: all_reduce(Float[4]); rank 1: all_reduce(Float[5])",
}


@pytest.mark.parametrize("fault", WRONG)
def test_dumps_of_faulty_runs(fault, tmp_path):
    prefix = str(tmp_path / "rank_")
    launch("--keep-going", "--nproc-per-node=2", PROGRAM, fault, TORCH_FR_DUMP_TEMP_FILE=prefix)
    page = tmp_path / "page.html"
    files = [str(each) for each in tmp_path.glob("rank_*")]
    printed = start("-m", "mindtorch.distributed.flight_recorder", *files, "--html", str(page), code=1)
    assert WRONG[fault] in printed
    assert "http" not in page.read_text() and "all_reduce(Float[4])" in page.read_text()
    assert report.read([Path(each) for each in files])[0]["entries"][3]["collective_seq_id"] == 4


@pytest.mark.parametrize(
    ("how", "ranks", "text"),
    [
        ("late", 2, "Rank 1 failed"),
        ("first", 2, "Rank 1 failed"),
        ("killed", 3, "Rank 1 failed"),
        ("all", 3, "Rank 1 failed"),
    ],
)
def test_monitored_barrier(how, ranks, text):
    printed = launch("--keep-going", f"--nproc-per-node={ranks}", PROGRAM, "monitored", how)
    assert f"<0>[Rank 0]: {text} to pass monitoredBarrier in 1000 ms" in printed
    if ranks == 3:
        assert "<2>Rank 2 successfully reached monitoredBarrier, but received errors while waiting" in printed
