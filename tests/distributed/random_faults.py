"""Training runs of several processes in which one of them goes wrong at a random moment.

`python -m tests.distributed.random_faults --count 500` runs so many of them and prints the table of what was seen. A
case is one number: how many processes there are, which goes wrong, how, where and after what delay follow from it.

Nothing may hang; the others get the right error within a second, or after the time-out where nothing can be seen of
the fault; none goes on with wrong numbers; the survivors can make a group without the faulty process; no process and no
file is left. The processes are forks of this one, which saves them the import.
"""

import argparse
import atexit
import faulthandler
import json
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import count, islice, product
from pathlib import Path

import mindtorch as torch
import mindtorch.distributed as dist

TIMEOUT = 3.0  # where it is the time-out that finds a fault
PATIENCE = 20.0  # the time-out elsewhere: no machine is so busy that it passes
SECOND = 1.0  # in which a fault that can be seen has to be seen
HANG = 60.0
AGAIN = 3  # how often a case is tried on a machine that is too busy

DEATHS = ("kill", "kill_later", "exception", "exit_0", "exit_3", "os_exit_0", "os_exit_3", "nan")
SILENT = ("stop", "stop_later", "very_late")
MISMATCHES = ("other_op", "other_dtype", "other_size", "other_order")
FAULTS = (*DEATHS, *SILENT, *MISMATCHES, "late")
MOMENTS = ("init", "new_group", "collectives", "messages", "asynchronous", "backward", "monitored", "destroy")


@dataclass(frozen=True)
class Case:
    """What goes wrong, and where."""

    number: int
    ranks: int
    victim: int
    fault: str
    moment: str
    step: int
    delay: float


def case_of(number: int) -> Case:
    """The case of a number; faults and moments come in turn, the rest is drawn."""
    draw = random.Random(number)
    fault = FAULTS[number % len(FAULTS)]
    ranks = draw.choice([2, 3, 4])
    moment = "collectives" if fault in MISMATCHES else draw.choice(MOMENTS)
    if fault == "nan":
        moment = draw.choice(["collectives", "asynchronous", "backward"])
    victim = draw.randrange(ranks)
    step, delay = draw.randrange(4), draw.uniform(0, 0.03)
    return Case(number, ranks, victim, fault, moment, step, 30 * delay if moment == "init" else delay)


def timeout_of(case: Case, moment: str) -> float:
    """The time-out of what begins at a moment."""
    is_found_by_it = case.fault in SILENT or (case.fault in DEATHS and case.moment == "init")
    is_before = moment == "init" and case.moment != "init"  # to start processes takes the time that it takes
    return TIMEOUT if is_found_by_it and not is_before else PATIENCE


# -------------------- in each process --------------------


class Program:
    """A training run; `reach` is where it may go wrong."""

    def __init__(self, case: Case, rank: int, folder: Path) -> None:
        self.case, self.rank, self.folder = case, rank, folder
        self.size = case.ranks
        self.is_due = False

    def note(self, **what) -> None:
        with (self.folder / f"said{self.rank}").open("a") as file:
            file.write(json.dumps({"time": time.time(), **what}) + "\n")

    def reach(self, moment: str, step: int = 0) -> None:
        case = self.case
        if self.rank == case.victim and (moment, step) == (case.moment, case.step if step else 0):
            self.note(fault=case.fault)
            getattr(self, case.fault, self.mark)()

    def mark(self) -> None:
        self.is_due = True

    def kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def kill_later(self) -> None:
        threading.Timer(self.case.delay, self.kill).start()

    def stop(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def stop_later(self) -> None:
        threading.Timer(self.case.delay, self.stop).start()

    def exception(self) -> None:
        raise ZeroDivisionError("the fault")

    def exit_0(self) -> None:
        sys.exit(0)

    def exit_3(self) -> None:
        sys.exit(3)

    def os_exit_0(self) -> None:
        os._exit(0)

    def os_exit_3(self) -> None:
        os._exit(3)

    def late(self) -> None:
        time.sleep(TIMEOUT / 4)

    def very_late(self) -> None:
        time.sleep(2.5 * TIMEOUT)

    # -------------------- the steps --------------------

    def run(self) -> None:
        self.reach("init")
        dist.init_process_group(
            "gloo", init_method=f"file://{self.folder / 'store'}", rank=self.rank, world_size=self.size,
            timeout=timedelta(seconds=timeout_of(self.case, "init")),
        )  # fmt: skip
        self.note(initialized=True)
        limit = timedelta(seconds=timeout_of(self.case, "new_group"))
        dist.group.WORLD.set_timeout(limit)
        self.reach("new_group")
        everyone = dist.new_group(list(range(self.size)), timeout=limit)
        pair = dist.new_group([0, 1], timeout=limit)
        self.collectives(everyone, pair)
        self.messages()
        self.asynchronous()
        self.backward()
        self.reach("monitored")
        dist.monitored_barrier()
        self.reach("destroy")
        dist.destroy_process_group()

    def value(self) -> float:
        if self.is_due and self.case.fault == "nan":
            return float("nan")
        return self.rank + 1.0

    def check(self, tensor: torch.Tensor, expected: float) -> None:
        if not torch.equal(tensor, torch.full_like(tensor, expected)):
            self.note(wrong=str(tensor.reshape(-1)[0].item()))

    def collectives(self, everyone, pair) -> None:
        total = self.size * (self.size + 1) / 2
        for step in range(1, 5):
            self.reach("collectives", step - 1) if step > 1 else self.reach("collectives")
            for size in (1, 1000, 200_000):
                self.reduce(size, [None, everyone][step % 2], total)
            if self.rank < 2:
                tensor = torch.full((3,), self.value())
                dist.all_reduce(tensor, group=pair)
                self.check(tensor, 3.0)

    def reduce(self, size: int, group, total: float) -> None:
        fault = self.case.fault if self.is_due else None
        try:
            tensor = torch.full((size,), self.value())
            if fault in MISMATCHES:
                self.is_due = False
                self.differ(fault, tensor, group)
            else:
                dist.all_reduce(tensor, group=group)
        except RuntimeError as error:
            if "Detected mismatch" not in str(error):
                raise
            self.note(mismatch=str(error))
            tensor = torch.full((size,), self.value())
            dist.all_reduce(tensor, group=group)
        else:
            if fault in MISMATCHES:
                self.note(wrong=f"{fault} was not seen")
        self.check(tensor, total)

    def differ(self, fault: str, tensor: torch.Tensor, group) -> None:
        if fault == "other_op":
            dist.all_reduce(tensor, dist.ReduceOp.MAX, group=group)
        elif fault == "other_dtype":
            dist.all_reduce(tensor.double(), group=group)
        elif fault == "other_size":
            dist.all_reduce(torch.cat([tensor, tensor]), group=group)
        else:
            dist.broadcast(tensor, dist.get_global_rank(group or dist.group.WORLD, 0), group=group)

    def messages(self) -> None:
        following, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        for step in range(4):
            self.reach("messages", step)
            received = torch.zeros(70_000 if step % 2 else 5)
            works = dist.batch_isend_irecv([
                dist.P2POp(dist.isend, torch.full_like(received, self.rank + 1.0), following),
                dist.P2POp(dist.irecv, received, before),
            ])  # fmt: skip
            for work in works:
                work.wait()
            self.check(received, before + 1.0)

    def asynchronous(self) -> None:
        total = self.size * (self.size + 1) / 2
        for step in range(4):
            self.reach("asynchronous", step)
            tensors = [torch.full((size,), self.value()) for size in (10, 50_000, 10)]
            works = [dist.all_reduce(each, async_op=True) for each in tensors]
            for work, tensor in zip(works, tensors, strict=True):
                work.wait()
                self.check(tensor, total)

    def backward(self) -> None:
        torch.manual_seed(0)
        model = torch.nn.parallel.DistributedDataParallel(
            torch.nn.Sequential(torch.nn.Linear(8, 50), torch.nn.Linear(50, 1))
        )
        steps = iter(range(100))
        model.module[1].weight.register_hook(lambda grad: self.reach("backward", next(steps)))
        for _ in range(4):
            model(torch.full((2, 8), self.value())).sum().backward()
            self.note_bias(model.module[1].bias.grad)
            model.zero_grad()

    def note_bias(self, grad: torch.Tensor) -> None:
        self.check(grad, 2.0)


def child(case: Case, rank: int, folder: Path) -> None:
    """One process from its beginning to its end, as Python ends a program."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    log = os.open(folder / f"log{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for each in (1, 2):
        os.dup2(log, each)
    faulthandler.register(signal.SIGUSR1, file=log)
    if case.fault == "nan":
        os.environ["TORCH_NCCL_NAN_CHECK"] = "1"
    program = Program(case, rank, folder)
    code = 1
    try:
        code = attempt(program)
    except SystemExit as error:
        code = error.code
    except BaseException:  # noqa: BLE001 (as Python does at the end of a program)
        sys.excepthook(*sys.exc_info())
    finally:
        program.note(ends=code)
        atexit._run_exitfuncs()
        os._exit(code)


def attempt(program: Program) -> int:
    try:
        program.run()
    except RuntimeError as error:
        program.note(error=f"{type(error).__name__}: {error}")
        if program.rank == program.case.victim:
            raise
        if program.case.moment != "init":
            go_on(program)
        return 5
    program.note(done=True)
    return 0


def go_on(program: Program) -> None:
    try:
        dist.shrink_group([program.case.victim])
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        program.check(tensor, float(dist.get_world_size()))
        program.note(shrunk=dist.get_world_size())
        dist.destroy_process_group()
    except (RuntimeError, ValueError) as error:
        program.note(unshrunk=f"{type(error).__name__}: {error}")


# -------------------- in the process that watches --------------------


class Lag:
    """How much longer than asked for this machine lets a process sleep, at worst.

    On each core two processes look, one of them in a session of its own: Linux shares a core out between sessions
    first, and `mpiexec` is in another one than the program. A busy one may have a core for seconds while others wait.
    """

    PERIOD = 0.02

    def __init__(self) -> None:
        kinds = list(product(sorted(os.sched_getaffinity(0)), (False, True)))
        self._seen = memoryview(mmap.mmap(-1, 16 * len(kinds))).cast("d")  # of each process: the worst, and when
        self.reset()
        self._pids = [self._started(place, *kind) for place, kind in enumerate(kinds)]

    def _started(self, place: int, core: int, in_own_session: bool) -> int:
        parent, pid = os.getpid(), os.fork()
        if pid:
            return pid
        if in_own_session:
            os.setsid()
        os.sched_setaffinity(0, {core})
        while os.getppid() == parent:
            time.sleep(self.PERIOD)
            self._look(2 * place)
        os._exit(0)

    def _look(self, at: int) -> None:
        now = time.monotonic()
        self._seen[at] = max(self._seen[at], now - self._seen[at + 1] - self.PERIOD)
        self._seen[at + 1] = now

    def reset(self) -> None:
        for at in range(0, len(self._seen), 2):
            self._seen[at], self._seen[at + 1] = 0.0, time.monotonic()

    def worst(self) -> float:
        """Since `reset`, also if a process has not come to look yet."""
        now = time.monotonic()
        return max(max(self._seen[at], now - self._seen[at + 1]) for at in range(0, len(self._seen), 2))

    def stop(self) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def settled(case: Case, lag: Lag) -> tuple[list[str], float]:
    """What was wrong with a case. Where a time-out may have passed because of the machine alone, it is run again."""
    for _ in range(AGAIN):
        lag.reset()
        found, delay = run_case(case, lag)
        if not found or lag.worst() < timeout_of(case, case.moment) / 2:
            break
    return found, delay


def run_case(case: Case, lag: Lag) -> tuple[list[str], float]:
    """What was wrong with a case, and after how many seconds the last of the others had its error."""
    folder = Path(tempfile.mkdtemp(prefix="mindtorch-fault-"))
    pids = [forked(case, rank, folder) for rank in range(case.ranks)]
    found = watch(case, pids, folder)
    said = [[json.loads(line) for line in lines(folder / f"said{rank}")] for rank in range(case.ranks)]
    found += judge(case, said, lag.worst(), folder)
    found += left_over(folder)
    if found:
        found.append(f"see {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return found, delay_of(case, said)


def forked(case: Case, rank: int, folder: Path) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        child(case, rank, folder)
    return pid


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def watch(case: Case, pids: list[int], folder: Path) -> list[str]:
    """Wait for the end of all; a process that was stopped is killed when the others have ended."""
    waiting = dict(enumerate(pids))
    deadline = time.monotonic() + HANG
    while waiting and time.monotonic() < deadline:
        for rank, pid in list(waiting.items()):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del waiting[rank]
        if list(waiting) == [case.victim] and case.fault.startswith("stop"):
            os.kill(waiting[case.victim], signal.SIGKILL)
        time.sleep(0.005)
    for pid in waiting.values():
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.2)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return [f"rank {rank} hangs: {lines(folder / f'said{rank}')[-1:]}" for rank in waiting]


def left_over(folder: Path) -> list[str]:
    """Processes that run on."""
    deadline = time.monotonic() + 5
    while found := [each for each in Path("/proc").glob("[0-9]*") if _belongs(each, folder)]:
        if time.monotonic() > deadline:
            return [f"process {each.name} is left: {_command(each)}" for each in found]
        time.sleep(0.02)
    return [f"{each.name} is left" for each in folder.glob("mindtorch-*")]


def _belongs(process: Path, folder: Path) -> bool:
    return str(folder) in _command(process)


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def delay_of(case: Case, said) -> float:
    since = [each["time"] for each in said[case.victim] if "fault" in each]
    times = [
        each["time"] for rank in range(case.ranks) if rank != case.victim for each in said[rank] if "error" in each
    ]
    return max(times) - since[0] - lateness(case) if since and times else 0.0


_TEXTS = ("has died", "has aborted it", "caught collective operation timeout", "has left", "had an exception",
          "Timed out waiting", "monitoredBarrier", "came to make their group")  # fmt: skip
_TAKEN_DOWN = "taking the entire process down"
_CRASHED = "(ompi_comm_revoke_local+"  # Open MPI 5.0.11, when it hears of a death while it makes a communicator
_TEXTS_OF_INIT = (*_TEXTS, "came to begin MPI", "has not come to begin MPI", "Wait timeout", "Timeout waiting for key")


def judge(case: Case, said, lag: float, folder: Path) -> list[str]:
    """What is wrong with what the processes have said."""
    found = [
        f"rank {rank}: wrong {each['wrong']}" for rank, all_ in enumerate(said) for each in all_ if "wrong" in each
    ]
    since = next((each["time"] for each in said[case.victim] if "fault" in each), None)
    if since is None:
        return [*found, "the fault did not happen"]
    others = [rank for rank in range(case.ranks) if rank != case.victim]
    if case.fault == "late" or case.fault in MISMATCHES:
        return found + [f"rank {rank} is not done" for rank in range(case.ranks) if not has(said[rank], "done")] + [
            f"rank {rank} was not told" for rank in range(case.ranks)
            if case.fault in MISMATCHES and not has(said[rank], "mismatch")
        ]  # fmt: skip
    is_seen = case.fault in DEATHS and (case.moment != "init" or came_to_begin(folder, case.victim))
    limit = 2 * lag + (SECOND + lateness(case) if is_seen else TIMEOUT + SECOND)
    down = [rank for rank in others if any(_TAKEN_DOWN in line for line in lines(folder / f"log{rank}"))]
    if down and case.fault not in SILENT:
        found.append(f"ranks {down} were taken down")
    if case.moment == "new_group" and case.fault == "kill_later":
        down += [rank for rank in others if any(_CRASHED in line for line in lines(folder / f"log{rank}"))]
    for rank in others:
        if rank not in down:
            found += judge_survivor(case, rank, said[rank], since, limit, len(down))
    if case.fault == "very_late" and case.moment != "destroy" and not has(said[case.victim], "error"):
        found.append("the late process was not told")
    return found


def came_to_begin(folder: Path, rank: int) -> bool:
    """Whether a process has called `init_process_group`; if not, none knows of it."""
    store = folder / "store"
    return store.exists() and f"process{rank}" in json.loads(store.read_bytes())


def lateness(case: Case) -> float:
    """How much later than its note a fault happens."""
    return case.delay if case.fault.endswith("later") else 0.0


def has(said, key: str) -> bool:
    return any(key in each for each in said)


def judge_survivor(case: Case, rank: int, said, since: float, limit: float, down: int) -> list[str]:
    error = next((each for each in said if "error" in each), None)
    if error is None:
        # Who needs nothing more of the faulty process may finish.
        is_free = case.moment == "destroy" or case.fault.endswith("later")
        return [] if is_free and has(said, "done") else [f"rank {rank} got no error: {said[-1:]}"]
    found = []
    if any("shrunk" in each and each["shrunk"] not in (case.ranks - 1, case.ranks - 1 - down) for each in said):
        found.append(f"rank {rank} lost others than the faulty process: {said[-2:]}")
    texts = _TEXTS_OF_INIT if case.moment == "init" else _TEXTS
    if not any(text in error["error"] for text in texts):
        found.append(f"rank {rank} got another error: {error['error']}")
    if error["time"] - since > limit:
        found.append(f"rank {rank} got its error after {error['time'] - since:.2f} s: {error['error'][:150]}")
    if has(said, "unshrunk"):
        found.append(f"rank {rank}: {next(each['unshrunk'] for each in said if 'unshrunk' in each)}")
    return found


def say(*parts: object, sep: str = " ") -> None:
    sys.stdout.write(sep.join(map(str, parts)) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run cases; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--fault", choices=FAULTS, help="only cases of this fault")
    parser.add_argument("--moment", choices=MOMENTS, help="only cases of this moment")
    parser.add_argument("--seconds", type=float, default=3600, help="begin no case after so many seconds")
    options = parser.parse_args()
    wanted = (case for case in map(case_of, count(options.first)) if options.fault in (None, case.fault))
    cases = islice((case for case in wanted if options.moment in (None, case.moment)), options.count)
    end = time.monotonic() + options.seconds
    table: dict[str, list[float]] = {}
    wrong: Counter = Counter()
    lag = Lag()
    for case in cases:
        if time.monotonic() > end:
            break
        found, delay = settled(case, lag)
        kind = f"{case.fault}, init" if case.moment == "init" else case.fault
        table.setdefault(kind, []).append(delay)
        wrong[kind] += bool(found)
        if found:
            say(case, f"lag {lag.worst():.2f} s", *found, sep="\n    ")
    lag.stop()
    for fault, delays in sorted(table.items()):
        median, worst = sorted(delays)[len(delays) // 2], max(delays)
        times = f"errors after {median:.2f} s, worst {worst:.2f} s"
        say(f"{fault:17} {len(delays):4} cases, {wrong[fault]:3} wrong, {times}")
    say(f"{sum(map(len, table.values()))} cases, {wrong.total()} wrong")
    return int(bool(wrong.total()))


if __name__ == "__main__":
    sys.exit(main())
