"""Writes the table of PyTorch's modules and names from the installed wheel: `python -m tests.parity.api.surface`.

The table is `mindtorch/_support/torch_names.tsv`. In it are all modules that can be imported without a further package
and have no underscore in their path, with the names that they show; and of the others what public packages use, as the
table itself says: how many of 99 packages use a name (`packages`), and how many as soon as they are imported
(`at_import`). These two columns are kept when the table is written again.
"""

import contextlib
import inspect
import io
import pkgutil
import sys
import warnings
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import GenericAlias, ModuleType, UnionType

TABLE = Path(__file__).resolve().parents[3] / "mindtorch" / "_support" / "torch_names.tsv"
HEADER = ("module", "name", "kind", "home", "packages", "at_import")
# What pickles of tensors, and of errors, refer to, and its neighbours.
_PICKLED = ("torch._utils", "torch._tensor", "torch.storage", "torch._C")
# Of their own tests, of C++ programs, of a build; some begin to work when they are imported.
_LEFT_OUT = ("torch.testing._internal", "torch.utils._sympy.printers", "torch.utils.benchmark.examples", "torch.lib")
# Classes of which the table has the members.
_CLASSES = (
    "Tensor", "nn.Module", "optim.Optimizer", "optim.lr_scheduler.LRScheduler", "utils.data.DataLoader", "device",
    "dtype", "Size", "Generator", "UntypedStorage", "TypedStorage", "distributions.Distribution", "amp.GradScaler",
)  # fmt: skip


def kept(path: Path = TABLE) -> dict[tuple[str, str], tuple[int, int]]:
    """How much each name is used."""
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    rows = [line.split("\t") for line in lines]
    return {(row[0], row[1]): (int(row[4]), int(row[5])) for row in rows if row[4] != "0"}


def lines_of(used: dict[tuple[str, str], tuple[int, int]]) -> list[str]:
    """The table, made from the wheel."""
    rows: dict[tuple[str, str], tuple[str, str]] = {}
    modules = {name for name in _names_of_modules() if _is_shown(name) or _is_used(name, used)}
    for path in sorted(modules | set(_PICKLED)):
        module = _imported(path)
        if module is not None:
            rows[path, ""] = ("module", "")
            _add_names(rows, path, module, used)
    torch = sys.modules["torch"]
    for name in _CLASSES:
        cls = _member(torch, name)
        for member in dir(cls):
            if not member.startswith("_") or (f"torch.{name}", member) in used:
                rows[f"torch.{name}", member] = ("member", "")
    for place, name in used.keys() - rows.keys():  # of what is no module, such as `torch.ops.aten`
        with contextlib.suppress(AttributeError, RuntimeError):
            rows[place, name] = _facts(_member(torch, f"{place}.{name}".removeprefix("torch.")))
    found = [(*key, *facts, *map(str, used.get(key, (0, 0)))) for key, facts in sorted(rows.items())]
    return ["\t".join(row) for row in (HEADER, *found)]


def _is_shown(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def _is_used(name: str, used: dict[tuple[str, str], tuple[int, int]]) -> bool:
    return any(place == name for place, _ in used)


def _names_of_modules() -> set[str]:
    torch = import_module("torch")
    with _silent():
        found = {each.name for each in pkgutil.walk_packages(torch.__path__, "torch.", lambda name: None)}
    in_memory = {name for name in sys.modules if name.startswith("torch.") and not isinstance(sys.modules[name], str)}
    return {"torch"} | {name for name in found | in_memory if not name.startswith(_LEFT_OUT)}


def _imported(name: str) -> ModuleType | None:
    try:
        with _silent():
            return import_module(name)
    except Exception:  # noqa: BLE001 (whatever a module needs that is not there)
        return None


@contextlib.contextmanager
def _silent():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _add_names(rows, path, module, used) -> None:
    listed = vars(module).get("__all__")
    for name in sorted({*vars(module), *(listed or ())} | {name for place, name in used if place == path and name}):
        thing = _found(module, name)
        if thing is not None or name in vars(module):
            if (path, name) in used or _is_part(path, module, name, thing, listed):
                facts = rows.setdefault((path, name), _facts(thing))
                if facts[0] == "enum":
                    _add_enum(rows, thing, facts[1] or path)
                if isinstance(thing, Enum) and facts[1]:
                    rows.setdefault(
                        (type(thing).__module__, type(thing).__qualname__), ("enum", type(thing).__module__)
                    )
                    _add_enum(rows, type(thing), type(thing).__module__)
                if facts[0] == "value" and (path, name) not in used:
                    rows[path, name] = ("value", "")


def _is_part(path, module, name, thing, listed) -> bool:
    """Whether a name is one of the module's, and not something that it has imported for itself."""
    if name.startswith("__") or isinstance(thing, ModuleType):
        return False
    home = getattr(thing, "__module__", None)
    if name.startswith("_") or not _is_shown(path):
        return path in _PICKLED and home == path and (path != "torch._C" or isinstance(thing, type))
    if listed is not None and name in listed:
        return True
    if listed is not None and path != "torch":
        return False
    return f"{home}.".startswith(f"{path}.") or (home is None and _is_of_torch(type(thing)))


def _is_of_torch(cls) -> bool:
    return cls.__module__.partition(".")[0] == "torch"


def _facts(thing) -> tuple[str, str]:
    if isinstance(thing, ModuleType):
        return "module", ""
    kind = _kind(thing)
    home = getattr(thing, "__module__", None)
    told = inspect.isclass(thing) or inspect.isfunction(thing)
    if kind == "value":
        return kind, _plain(thing)
    return kind, home if told and isinstance(home, str) and home.partition(".")[0] == "torch" else ""


def _kind(thing) -> str:
    if isinstance(thing, type) and not isinstance(thing, GenericAlias):
        enum = issubclass(thing, Enum) or (_is_of_torch(thing) and hasattr(thing, "__members__"))
        return "exception" if issubclass(thing, BaseException) else "enum" if enum else "class"
    if isinstance(thing, (GenericAlias, UnionType)) or type(thing).__module__ == "typing":
        return "type"
    return "function" if callable(thing) else "value"


def _plain(value) -> str:
    """What a value is, if it is a number, a text or a member of an enum; what is used is the same on every machine."""
    if isinstance(value, Enum) and _is_of_torch(type(value)):
        return f"{type(value).__module__}.{type(value).__qualname__}.{value.name}"
    if value is None or type(value) in (bool, int, float, str) and len(repr(value)) < 60 and repr(value).isprintable():
        return repr(value)
    return ""


def _add_enum(rows, cls, home) -> None:
    rows.update({(f"{home}.{cls.__name__}", each): ("member", worth) for each, worth in _members(cls)})


def _members(cls) -> list[tuple[str, str]]:
    """The members of an enum, with what they are worth: a number or a text, or their place."""
    members = cls.__members__.items()
    worth = [
        each.value if type(getattr(each, "value", None)) in (int, str) else int(each) if hasattr(each, "__int__") else n
        for n, (_, each) in enumerate(members)
    ]
    return [(name, repr(value)) for (name, _), value in zip(members, worth)]


def _found(module, name):
    try:
        with _silent():
            return getattr(module, name, None)
    except Exception:  # noqa: BLE001 (a lazy name that needs what is not there)
        return None


def _member(thing, path):
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TABLE.write_text("\n".join(lines_of(kept())) + "\n")
