"""Where CANN's libraries are, and in which of them a function is.

Libraries are looked for as torch_npu does it: in the folders that the environment names, else in the usual ones. An
ACLNN function may be in a library of custom ops, in one of those that CANN is split into, in `libopapi.so`, or,
before CANN 8.5, in a library of features. Nothing is loaded until the first symbol is asked for; a function that is
in none of them is missing when it is called, and not before.
"""

import ctypes
import os
import platform
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_FOLDERS = ("lib64", f"{platform.machine()}-linux/lib64")
_USUAL_PLACES = ("ascend-toolkit/latest", "cann", "cann-*")
_FEATURES = tuple(f"libaclnn_{name}.so" for name in ("ops_infer", "ops_train", "math", "rand", "sparse", "fft"))
RUNTIME = ("libascendcl.so",)
OBJECTS = ("libnnopbase.so",)
DRIVER = ("libascend_hal.so",)
COLLECTIVES = ("libhccl.so", "libhcomm.so")


def toolkit_folders() -> list[Path]:
    """The folders with libraries, those that the environment names first."""
    roots = [os.environ[name] for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME") if os.environ.get(name)]
    if not roots:
        usual = Path("/usr/local/Ascend")
        roots = [str(path) for pattern in _USUAL_PLACES for path in sorted(usual.glob(pattern), reverse=True)]
    return [folder for root in roots for name in _FOLDERS if (folder := Path(root, name)).is_dir()]


def _custom_libraries() -> Iterator[Path]:
    for root in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":"):
        library = Path(root, "op_api", "lib", "libcust_opapi.so")
        if root and library.is_file():
            yield library


def find(name: str) -> Path | None:
    """The file of a library, in the toolkit or in the folders of LD_LIBRARY_PATH, where the driver's are."""
    folders = [*toolkit_folders(), *map(Path, filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")))]
    return next((path for folder in folders if (path := folder / name).is_file()), None)


@cache
def load(name: str) -> ctypes.CDLL | None:
    """A library by its name; None if it is not there."""
    path = find(name)
    return None if path is None else _opened(path)


def _opened(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise RuntimeError(f"{path} cannot be loaded: {error}") from error


@cache
def operator_libraries() -> tuple[ctypes.CDLL, ...]:
    """The libraries that may have an ACLNN function, in the order in which they are asked."""
    paths = list(_custom_libraries())
    for folder in toolkit_folders():
        paths += sorted(folder.glob("libopapi_*.so"))
    found = map(_opened, paths)
    return (*found, *filter(None, map(load, ("libopapi.so", *_FEATURES))))


def is_present() -> bool:
    """Whether the libraries are there. Loads none."""
    return find(RUNTIME[0]) is not None


def symbol(name: str, libraries: tuple[str, ...]) -> "ctypes._NamedFuncPointer | None":
    """A function of the runtime, by the names of the libraries that may have it."""
    return _first(name, filter(None, map(load, libraries)))


def operator_symbol(name: str) -> "ctypes._NamedFuncPointer | None":
    """An ACLNN function."""
    return _first(name, iter(operator_libraries()))


def _first(name: str, libraries: Iterator[ctypes.CDLL]) -> "ctypes._NamedFuncPointer | None":
    for library in libraries:
        try:
            return library[name]
        except AttributeError:
            continue
    return None


def forget() -> None:
    """Look for everything anew: for tests that change the environment."""
    load.cache_clear()
    operator_libraries.cache_clear()
