"""Compiles the simulated device, and lays out its libraries as an installed CANN toolkit has them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.npu_simulator.generate import Signature, custom_signatures, signatures, stubs

SOURCE = Path(__file__).with_name("source")
CORE = "libnpu_simulator.so"
# Each library, its sources, and what it is linked with.
LIBRARIES = {
    CORE: (["state.c", "memory.c", "stream.c", "order.c"], []),
    "libascendcl.so": (["runtime.c", "streams_and_events.c"], [CORE]),
    "libnnopbase.so": (["objects.c", "executor.c"], [CORE]),
    "libascend_hal.so": (["hal.c"], [CORE]),
    "libhccl.so": (["hccl.c", "exchange.c"], [CORE]),
}
# Which library has the ops of which repository. "single" is CANN up to 8.3, "split" CANN from 8.5 on, "features" the
# former with feature libraries beside it.
REPOSITORIES = ("ops-math", "ops-nn", "ops-cv", "ops-transformer")
VARIANTS = {
    "single": dict.fromkeys(REPOSITORIES, "libopapi.so"),
    "split": {repository: f"libopapi_{repository[4:]}.so" for repository in REPOSITORIES},
    "features": dict.fromkeys(REPOSITORIES, "libopapi.so")
    | {"ops-math": "libaclnn_math.so", "ops-nn": "libaclnn_ops_infer.so"},
}


@dataclass(frozen=True)
class Toolkit:
    """A folder tree like that of an installed toolkit."""

    home: Path  # ASCEND_HOME_PATH
    custom: Path  # an entry of ASCEND_CUSTOM_OPP_PATH

    @property
    def libraries(self) -> Path:
        """Where the libraries lie."""
        return self.home / "lib64"

    def environment(self, custom: bool = False) -> dict[str, str]:
        """What `set_env.sh` would set."""
        found = {"ASCEND_HOME_PATH": str(self.home), "ASCEND_OPP_PATH": str(self.home / "opp")}
        return {**found, "ASCEND_CUSTOM_OPP_PATH": str(self.custom)} if custom else found


def compiler() -> str | None:
    """The C compiler: $CC, cc or gcc."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc"]
    return next((path for name in names if (path := shutil.which(name))), None)


def unavailable() -> str | None:
    """Why the device cannot be had here, or None if it can."""
    if not sys.platform.startswith("linux"):
        return f"the simulated NPU needs Linux (memfd_create, PROT_NONE mappings), and this is {sys.platform}"
    if compiler() is None:
        return "the simulated NPU needs a C compiler: neither $CC nor cc nor gcc is on the PATH"
    return None


def build(variant: str = "single", without: Iterable[str] = ()) -> Toolkit:
    """The toolkit, compiled unless the same sources were before. `without`: ops whose symbols are missing."""
    reason = unavailable()
    if reason:
        raise RuntimeError(reason)
    sources = _sources(variant, frozenset(without))
    home = _cache() / _digest(sources)
    if not (home / "complete").exists():
        _install(sources, home)
    return Toolkit(home, home / "custom")


def _cache() -> Path:
    folder = Path(tempfile.gettempdir()) / f"npu_simulator_{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise RuntimeError(f"{folder} is not ours: code from it would be run")
    return folder


def _digest(sources: dict[str, dict[str, str]]) -> str:
    header = [(SOURCE / name).read_text() for name in ("core.h", "exchange.h")]
    return hashlib.sha256(repr((sources, header, compiler(), FLAGS)).encode()).hexdigest()[:24]


def _sources(variant: str, without: frozenset[str]) -> dict[str, dict[str, str]]:
    """The sources of each library, by the path of the library below the toolkit's folder."""
    found = {
        f"lib64/{name}": {each: (SOURCE / each).read_text() for each in files} for name, (files, _) in LIBRARIES.items()
    }
    ops: dict[str, list[Signature]] = {}
    for each in signatures().values():
        if each.name not in without:
            ops.setdefault(VARIANTS[variant][each.repository], []).append(each)
    found |= {f"lib64/{name}": {"ops.c": stubs(own)} for name, own in ops.items()}
    found["custom/op_api/lib/libcust_opapi.so"] = {"ops.c": stubs(custom_signatures())}
    return found


FLAGS = ["-std=gnu11", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror"]


def _install(sources: dict[str, dict[str, str]], home: Path) -> None:
    """Compiles into a folder beside the place, which then takes its name: two processes may do so at once."""
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        folder = Path(scratch) / "toolkit"
        (folder / "opp").mkdir(parents=True)
        for library in ("lib64/" + CORE, *sources):
            if not (folder / library).exists():
                _compile(folder, library, sources[library])
        shutil.rmtree(folder / "work")
        (folder / "complete").touch()
        try:
            folder.rename(home)
        except OSError:
            if not (home / "complete").exists():
                raise


def _compile(folder: Path, library: str, sources: dict[str, str]) -> None:
    output = folder / library
    output.parent.mkdir(parents=True, exist_ok=True)
    work = folder / "work" / output.name
    work.mkdir(parents=True)
    for name, text in sources.items():
        (work / name).write_text(text)
    command = [
        str(compiler()),
        *FLAGS,
        "-O0" if "ops.c" in sources else "-O1",
        f"-I{SOURCE}",
        f"-Wl,-soname,{output.name}",
    ]
    command += [str(work / name) for name in sources] + ["-o", str(output)]
    command += _links(folder, output)
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode:
        raise RuntimeError(f"the simulated NPU does not compile:\n{result.stderr}")


def _links(folder: Path, output: Path) -> list[str]:
    """What a library needs: the core, and for ops what they are built on. Each finds the others beside it."""
    if output.name == CORE:
        return []
    depth = "" if output.parent.name == "lib64" else "/../../../lib64"
    needed = LIBRARIES.get(output.name, ([], ["libnnopbase.so", CORE]))[1]
    return [f"-L{folder}/lib64", *(f"-l:{name}" for name in needed), f"-Wl,-rpath,$ORIGIN{depth}", "-Wl,--no-undefined"]
