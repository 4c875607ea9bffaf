"""What the generator makes of damaged files: ``python -m tests.codegen.damage.measure 10000`` prints the figures.

Each file is refused by located messages of at most 2 KB with a remedy, or accepted; then it generates code that can be
imported, and the tests of the ops that were damaged pass, or fail as those of a wrong formula do: by a difference of
values, shapes or gradients, or an error with PyTorch's words. All else is a fault:

``traceback``  the generator itself fails                ``long``      a message above 2 KB
``no remedy``  a message without place or advice         ``nonsense``  accepted, and does not run

The accepted ones of ``--run-share`` percent are run, in a process of their own each.
"""

import argparse
import dataclasses
import os
import pickle
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from codegen import load as loading
from codegen.emit import emit_all
from codegen.errors import InvalidInput, Problems
from codegen.load import load
from codegen.model import Model
from codegen.project_file import read_project
from codegen.sources.hand_written import read_hand_written
from mindtorch.testing.ops import checks
from tests.codegen.damage.kinds import damaged
from tests.codegen.damage.project import DERIVATIVES, OPS, PACKAGE, write

MOST = 2048  # bytes of a message
LONGEST = 120  # seconds for the tests of what is accepted
_FAULTS = ("traceback", "long", "no remedy", "nonsense")
# What wrong formulas do that compute something else than the gradient; no other error is theirs.
_ALLOWED = (AssertionError, RuntimeError, NotImplementedError, FloatingPointError)


@dataclass(frozen=True)
class Outcome:
    """What became of a damaged file: ``kind`` is "refused", "accepted" or a fault, ``text`` what was said or failed."""

    number: int
    kind: str
    text: str = ""

    @property
    def is_fault(self) -> bool:
        return self.kind in _FAULTS


class Measure:
    """Loads damaged files into one project, whose hand-written files are read once."""

    def __init__(self, root: Path) -> None:
        self.root = write(root)
        problems = Problems()
        self._project = read_project(root, problems)
        self._sources = read_hand_written(self._project, problems)
        problems.raise_if_any()

    def model(self, ops: str, derivatives: str) -> Model:
        texts = {"ops.yaml": _encoded(ops), "derivatives.yaml": _encoded(derivatives)}
        before = loading.read_project, loading.read_hand_written
        loading.read_project, loading.read_hand_written = (lambda *_: self._project), (lambda *_: self._sources)
        try:
            return load(self.root, texts)
        finally:
            loading.read_project, loading.read_hand_written = before

    def outcome(self, number: int, runs: bool) -> Outcome:
        return self.outcome_of(number, damaged(number), runs)

    def outcome_of(self, number: int, texts: tuple[str, str], runs: bool) -> Outcome:
        try:
            model = self.model(*texts)
            files = emit_all(model)
        except InvalidInput as error:
            return _refused(number, error)
        except Exception:  # noqa: BLE001 - whatever it is: that the generator fails at all is what is looked for
            return Outcome(number, "traceback", traceback.format_exc())
        fault = self._fault_of_run(model, files) if runs else ""
        return Outcome(number, "nonsense" if fault else "accepted", fault)

    def _fault_of_run(self, model: Model, files: dict[str, str]) -> str:
        changed = sorted(_changed(model, self.model(OPS, DERIVATIVES)))
        with tempfile.TemporaryDirectory() as folder:
            root = write(Path(folder))
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return _in_child(root, changed)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def _refused(number: int, error: InvalidInput) -> Outcome:
    for found in error.diagnostics:
        if len(str(found).encode()) > MOST:
            return Outcome(number, "long", str(found)[:300])
        if not found.hint or not found.location.line or not found.location.column:
            return Outcome(number, "no remedy", str(found))
    return Outcome(number, "refused", str(error))


def _changed(model: Model, original: Model) -> Iterator[str]:
    """The ops that are not as they were."""
    for name, op in model.ops.items():
        if op.derived_from is None and _facts(name, model) != _facts(name, original):
            yield name


def _facts(name: str, model: Model) -> object:
    op, derivative = model.ops.get(name), model.derivatives.get(name)
    if op is None:
        return None
    plain = dataclasses.replace(op, location=None, deprecated=(), versions=(), decomposition=None)
    formulas = (*derivative.backward, *derivative.forward) if derivative else ()
    decomposition = op.decomposition.source if op.decomposition else ""
    return str(op.schema), repr(plain), decomposition, [(each.targets, each.source) for each in formulas]


def _in_child(root: Path, changed: list[str]) -> str:
    """What is wrong with the generated code when it runs; nothing if its ops behave, right or wrong."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        fault = "the process ended"
        try:
            fault = _fault(root, changed)
        except BaseException:  # noqa: BLE001 - it is told to the parent
            fault = traceback.format_exc()
        finally:
            os.write(writer, pickle.dumps(fault[-6000:]))
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        written = stream.read()
    os.waitpid(process, 0)
    return pickle.loads(written) if written else "the process died"


def _fault(root: Path, changed: list[str]) -> str:
    signal.alarm(LONGEST)
    warnings.simplefilter("ignore")  # of overflows: what is compared is the result
    sys.path[:0] = [str(root / "src"), str(root / "tests")]
    try:
        import_module(PACKAGE)
        rows = import_module(f"{PACKAGE}._generated.op_table").OPS
    except Exception:  # noqa: BLE001 - it is the finding
        return f"it cannot be imported: {traceback.format_exc()}"
    names = {f"{PACKAGE}::{name}" for name in changed}
    for check in checks([row for row in rows if row.name in names], import_module("samples")):
        if check.what.endswith(("float64", "complex128")):
            try:
                check()
            except _ALLOWED:
                continue
            except Exception:  # noqa: BLE001 - it is the finding
                return f"{check}: {traceback.format_exc()}"
    return ""


def outcomes(numbers: Iterable[int], run_share: float = 100) -> Iterator[Outcome]:
    """What becomes of the damaged files of these numbers; so many percent of what is accepted run."""
    with tempfile.TemporaryDirectory() as folder:
        measure = Measure(Path(folder))
        for number in numbers:
            yield measure.outcome(number, runs=number * 37 % 100 < run_share)


def main() -> None:
    parser = argparse.ArgumentParser(description="Count what the generator makes of damaged files.")
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--run-share", type=float, default=100, metavar="PERCENT")
    parser.add_argument("--shown", type=int, default=20, help="so many of the faults are printed")
    options = parser.parse_args()
    counts, shown = Counter(), 0
    for outcome in outcomes(range(options.first, options.first + options.count), options.run_share):
        counts[outcome.kind] += 1
        if outcome.is_fault and shown < options.shown:
            shown += 1
            print(f"---- {outcome.number}: {outcome.kind}\n{outcome.text[-1500:]}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))


if __name__ == "__main__":
    main()
