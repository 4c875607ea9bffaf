"""What the flight recorder's comparison says of records of several processes."""

import pickle

import pytest

from mindtorch.distributed.flight_recorder import report


def entry(number, kind="all_reduce", sizes=(4,), dtype="Float", state="completed", peer=None):
    return {
        "process_group": ("0", "default_pg"), "collective_seq_id": 0 if peer else number,
        "p2p_seq_id": number if peer else 0, "profiling_name": f"gloo:{kind}", "input_sizes": [list(sizes)],
        "input_dtypes": [dtype], "output_sizes": [list(sizes)], "output_dtypes": [dtype], "state": state,
        "is_p2p": peer is not None, "time_created_ns": 10**9 * number, "duration_ms": 1.0,
    }  # fmt: skip


def dumps(*entries):
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(len(entries))))}}
    return {
        rank: {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": each}
        for rank, each in enumerate(entries)
        if each is not None
    }


CASES = {
    "well": (([entry(1)], [entry(1)]), "nothing is wrong"),
    "behind": (
        ([entry(1), entry(2, state="started")], [entry(1)]),
        "rank 0 entered call 2, all_reduce(Float[4]), rank 1 did not: rank 1 ended with call 1",
    ),
    "size": (([entry(1)], [entry(1, sizes=(5,))]), "rank 0: all_reduce(Float[4]); rank 1: all_reduce(Float[5])"),
    "dtype": (([entry(1)], [entry(1, dtype="Int")]), "rank 1: all_reduce(Int[4])"),
    "kind": (([entry(1)], [entry(1, kind="barrier")]), "rank 1: barrier(Float[4])"),
    "stuck": (([entry(1, state="started")], [entry(1, state="started")]), "ranks 0, 1 did not come back from call 1"),
    "silent": (([entry(1)], None), "rank 1 left no dump"),
    "message": (
        ([entry(1, "recv 0<-1", state="started", peer=1)], []),
        "rank 0: message 1, recv 0<-1(Float[4]) was not finished",
    ),
    "ring": (([entry(7)], [entry(6), entry(7)]), "nothing is wrong"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_findings(case):
    entries, expected = CASES[case]
    found = dumps(*entries)
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
    for each in found.values():
        each["pg_config"] = config
    assert expected in report.text(found)
    page = report.page(found)
    assert ("Nothing is wrong" in page) == (expected == "nothing is wrong") and "<script" not in page


def test_dumps_that_are_programs_are_refused(tmp_path):
    (tmp_path / "rank_0").write_bytes(pickle.dumps(print))
    with pytest.raises(pickle.UnpicklingError, match=r"no builtins\.print in it"):
        report.read([tmp_path])
    with pytest.raises(ValueError, match="ends in the rank"):
        (tmp_path / "other").touch()
        report.read([tmp_path / "other"])
