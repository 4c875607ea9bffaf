"""Where processes meet before they make a group: a store, and which rank each of them has."""

from __future__ import annotations

import os
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

from mindtorch.distributed.stores import FileStore, HashStore, PrefixStore, Store
from mindtorch.distributed.tcp_store import TCPStore

# What starts the processes of an MPI program and what it calls their rank and number: mpiexec, and Slurm with PMIx.
_LAUNCHERS = {
    "RANK": ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID"),
    "WORLD_SIZE": ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
}


def rendezvous(url: str, rank: int, world_size: int, timeout: timedelta) -> tuple[Store | None, int, int]:
    """The store, rank and number of processes of an address or, for `env://`, of the environment.

    The store is None for processes that MPI has started and to which no address was given.
    """
    rank, world_size = place_of(url, rank, world_size)
    parts = urlparse(url)
    if parts.scheme == "file":
        store = FileStore(parts.path, world_size)
        store.set_timeout(timeout)
        return store, rank, world_size
    if parts.scheme == "tcp":
        if parts.port is None:
            raise _lacking("tcp", "port number missing")
        return _served(parts.hostname or "", parts.port, rank, world_size, timeout), rank, world_size
    return _of_environment(rank, world_size, timeout), rank, world_size


def place_of(url: str, rank: int, world_size: int) -> tuple[int, int]:
    """Rank and number of processes: what is given, or else of the address, or for `env://` of the environment."""
    parts = urlparse(url)
    if parts.scheme not in ("env", "tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    query = {key: int(values[-1]) for key, values in parse_qs(parts.query).items() if key in ("rank", "world_size")}
    return _known(rank, "rank", query, parts.scheme), _known(world_size, "world_size", query, parts.scheme)


def _of_environment(rank: int, world_size: int, timeout: timedelta) -> Store | None:
    if world_size == 1:
        return HashStore()
    if "MASTER_ADDR" not in os.environ and is_under_launcher():
        return None
    host, port = _variable("MASTER_ADDR"), int(_variable("MASTER_PORT"))
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        store = TCPStore(host, port, world_size, timeout=timeout)  # the launcher's, for all of its attempts
        return of_attempt(store, os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
    return _served(host, port, rank, world_size, timeout)


def of_attempt(store: Store, attempt: int | str) -> Store:
    """The part of the launcher's store for the processes that it has started for the first time, the second ..."""
    return PrefixStore(f"/worker/attempt_{attempt}", store)


def _served(host: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    return TCPStore(host, port, world_size, is_master=rank == 0, timeout=timeout)


def is_under_launcher() -> bool:
    """Whether the program was started under MPI, as one of several processes."""
    return "PMIX_RANK" in os.environ or "OMPI_COMM_WORLD_SIZE" in os.environ or "PMI_SIZE" in os.environ


def _known(value: int, name: str, query: dict[str, int], scheme: str) -> int:
    if value != -1:
        return value
    if name in query:
        return query[name]
    if scheme == "env":
        return int(_variable(name.upper()))
    raise _lacking(scheme, f"{name} parameter missing")


def _variable(name: str) -> str:
    if name in os.environ:
        return os.environ[name]
    if is_under_launcher():
        for other in _LAUNCHERS.get(name, ()):
            if other in os.environ:
                return os.environ[other]
    raise _lacking("env", f"environment variable {name} expected, but not set")


def _lacking(scheme: str, what: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {what}")
