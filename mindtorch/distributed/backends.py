"""The backends of process groups, and which of them are there."""

from __future__ import annotations

from mindtorch._core.device import accelerator
from mindtorch.backends.npu.runtime import libraries
from mindtorch.distributed.engines import mpi


class Backend(str):
    """The name of a backend, in lower case."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    HCCL = "hccl"

    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, HCCL]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "npu": HCCL}

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


_LEAST = 0.1
_LOOK = 0.02  # how often a process that begins looks whether others have died, in seconds

_EVERYTHING = "cpu:gloo,npu:hccl"  # what groups are made of where there is an NPU and no backend is named

# The backends that PyTorch has and this library does not, with PyTorch's words.
_NOT_BUILT = {name: f"Distributed package doesn't have {name.upper()} built in" for name in ("nccl", "xccl", "ucc")}


def is_mpi_available() -> bool:
    """Whether MPI is installed, which groups of several processes need."""
    return mpi.is_installed()


is_gloo_available = is_mpi_available


def is_nccl_available() -> bool:
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_hccl_available() -> bool:
    """Whether CANN's library for collectives between NPUs is there."""
    return libraries.find(libraries.COLLECTIVES[0]) is not None


def is_backend_available(backend: str) -> bool:
    """Whether process groups of a backend can be made."""
    if backend.lower() == Backend.HCCL:
        return is_hccl_available() and is_mpi_available()
    return backend.lower() in ("gloo", "mpi") and is_mpi_available()


def checked_backend(backend: str | None) -> str:
    """The name, or that of the default; `RuntimeError` or `ValueError` if there is no such backend here."""
    name = Backend(backend or (_EVERYTHING if is_hccl_available() and accelerator() else Backend.GLOO))
    for part in name.split(","):
        each = part.rpartition(":")[2]
        if each in _NOT_BUILT:
            raise RuntimeError(_NOT_BUILT[each])
        if each == Backend.HCCL and not is_hccl_available():
            raise RuntimeError("Distributed package doesn't have HCCL built in")
        if each not in (Backend.GLOO, Backend.MPI, Backend.HCCL):
            raise ValueError(f"Unknown backend type {each}")
    return name
