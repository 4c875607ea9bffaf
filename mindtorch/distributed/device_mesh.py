"""`DeviceMesh`: processes in rows and columns, with a process group for each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from mindtorch._core.dtype import int32
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch.distributed.groups import new_group
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.starting import init_process_group
from mindtorch.distributed.world import default_group, get_process_group_ranks, get_rank, get_world_size, is_initialized

_active: list[DeviceMesh] = []  # those of the `with` statements that are open


class DeviceMesh:
    """The ranks of processes as an array; all processes make it, those that are in none of its places as well.

    `mesh["rows"]` is the part of this process along a dimension, or along several. DTensors are spread over a mesh.
    """

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: Sequence[str] | None = None,
        backend_override: Any = None,
        _groups: Sequence[ProcessGroup | None] | None = None,
        _root: DeviceMesh | None = None,
    ) -> None:
        if mesh is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        if backend_override:
            raise NotImplementedError("meshes of mindtorch use one backend: backend_override is not supported")
        self.device_type = device_type
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._ranks = np.asarray(mesh.tolist() if isinstance(mesh, Tensor) else mesh, np.int64)
        self._root = _root
        self._flat: dict[str, DeviceMesh] = {}
        if not is_initialized():
            init_process_group()
        if self._ranks.size > get_world_size():
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {get_world_size()}, but found {self._ranks.size} "
                "ranks!"
            )
        if len(set(self._ranks.ravel().tolist())) != self._ranks.size:
            raise AssertionError("Please use a non-overlapping layout when creating a DeviceMesh.")
        self._groups = list(_groups if _groups is not None else _groups_of(self._ranks, self.mesh_dim_names))
        place = np.argwhere(self._ranks == get_rank())
        self._coordinate = place[0].tolist() if len(place) else None

    @property
    def mesh(self) -> Tensor:
        """The ranks."""
        return tensor(self._ranks.tolist(), dtype=int32)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._ranks.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return self._ranks.shape

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of processes, along one dimension if it is given."""
        return self._ranks.size if mesh_dim is None else self.shape[mesh_dim]

    def __repr__(self) -> str:
        sizes = ", ".join(str(each) for each in self.shape)
        if self.mesh_dim_names:
            named = zip(self.mesh_dim_names, self.shape, strict=True)
            sizes = ", ".join(f"{name}={size}" for name, size in named)
        elif self.ndim == 1:
            sizes += ","
        steps = tuple(_step(self._ranks, dim) for dim in range(self.ndim))
        return f"DeviceMesh(({sizes}), '{self.device_type}', stride={steps})"

    def _key(self) -> tuple:
        return self.device_type, self.mesh_dim_names, self.shape, tuple(self._ranks.ravel().tolist())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DeviceMesh) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __enter__(self) -> DeviceMesh:
        _active.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _active.pop()

    # -------------------- this process --------------------

    def get_rank(self) -> int:
        """The rank of this process among all."""
        return get_rank()

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Where this process is; None if it isn't."""
        return None if self._coordinate is None else tuple(self._coordinate)

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Where this process is along one dimension."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
            )
        if self._coordinate is None:
            return -1
        return self._coordinate[self._dim(0 if mesh_dim is None else mesh_dim)]

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of the processes that differ from this one along one dimension only."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                "please use `get_all_groups()` instead.",
            )
        if isinstance(mesh_dim, str) and mesh_dim in (flat := self._get_root_mesh()._flat):
            return flat[mesh_dim].get_group()
        group = self._groups[self._dim(0 if mesh_dim is None else mesh_dim)]
        if group is None:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        return group

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of all dimensions."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def _dim(self, name: int | str) -> int:
        if not isinstance(name, str):
            return name
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if name not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{name}' does not exist.",
                f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
            )
        return self.mesh_dim_names.index(name)

    # -------------------- parts --------------------

    def _get_root_mesh(self) -> DeviceMesh:
        return self._root or self

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        flat = self._get_root_mesh()._flat
        if len(names) == 1 and names[0] in flat:
            return flat[names[0]]
        return self._part(self._checked(names, tuple(flat)), names)

    def _checked(self, names: tuple[str, ...], flat: tuple[str, ...]) -> list[int]:
        own = self.mesh_dim_names or ()
        if not set(names) <= set(own):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {[*own, *flat]}.")
        dims = [own.index(each) for each in names]
        if dims != sorted(set(dims)):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        return dims

    def _part(self, dims: Sequence[int], names: tuple[str, ...]) -> DeviceMesh:
        # A process outside of the mesh gets the part of its first place, as PyTorch has it.
        at = self._coordinate or [0] * self.ndim
        index = tuple(slice(None) if dim in dims else at[dim] for dim in range(self.ndim))
        groups = [self._groups[dim] for dim in dims]
        return DeviceMesh(
            self.device_type, self._ranks[index], mesh_dim_names=names, _groups=groups, _root=self._get_root_mesh()
        )

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """The processes of this mesh in one dimension, which the whole mesh has a name for from now on."""
        root = self._get_root_mesh()
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ())
        if name in root._flat:
            return root._flat[name]
        if name in (root.mesh_dim_names or ()):
            raise ValueError(f"{name} already exists for submesh of the {root}.")
        dims = [root._dim(each) for each in self.mesh_dim_names or range(self.ndim)]
        group = _group_among(_lines(root._ranks, dims), f"mesh_{name}")
        made = DeviceMesh(self.device_type, self._ranks.ravel(), mesh_dim_names=(name,), _groups=[group], _root=root)
        root._flat[name] = made
        return made

    @staticmethod
    def from_group(
        group: ProcessGroup | list[ProcessGroup],
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: Sequence[str] | None = None,
    ) -> DeviceMesh:
        """A mesh of groups that exist: of one, or of one for each dimension with the ranks."""
        groups = [group] if isinstance(group, ProcessGroup) else list(group)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if isinstance(group, ProcessGroup):
            mesh = get_process_group_ranks(group) if mesh is None else mesh
        elif mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        elif mesh_dim_names is None:
            raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
        made = DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, _groups=groups)
        if made.ndim != len(groups):
            raise ValueError(
                f"Expects mesh with ndim equal to number of ProcessGroups but got mesh {made._ranks.tolist()} and "
                f"{len(groups)} ProcessGroups"
            )
        return made


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """A mesh of the first processes in a shape, the last dimension running fastest."""
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. "
                f"Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}",
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! "
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.",
            )
    if device_type and not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    ranks = np.arange(math.prod(mesh_shape)).reshape(mesh_shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, backend_override=backend_override)


def active_mesh() -> DeviceMesh:
    """The mesh of the innermost `with` statement."""
    if not _active:
        raise RuntimeError("No device mesh is currently active!")
    return _active[-1]


def _groups_of(ranks: np.ndarray, names: tuple[str, ...] | None) -> list[ProcessGroup | None]:
    """The groups of this process, one for each dimension. All processes make all groups, in the same order."""
    if ranks.ndim == 1 and ranks.tolist() == list(range(get_world_size())):
        return [default_group()]
    called = names or [f"dim_{dim}" for dim in range(ranks.ndim)]
    return [_group_among(_lines(ranks, [dim]), f"mesh_{called[dim]}") for dim in range(ranks.ndim)]


def _lines(ranks: np.ndarray, dims: Sequence[int]) -> list[list[int]]:
    """The ranks along some dimensions, for each place in the others."""
    others = [dim for dim in range(ranks.ndim) if dim not in dims]
    rows = ranks.transpose([*others, *dims]).reshape(math.prod(ranks.shape[dim] for dim in others), -1)
    return rows.tolist()


def _group_among(lines: list[list[int]], description: str) -> ProcessGroup | None:
    made = [(line, new_group(line, group_desc=description)) for line in lines]
    return next((group for line, group in made if get_rank() in line), None)


def _step(ranks: np.ndarray, dim: int) -> int:
    """How far apart neighbours are, counted in places of a mesh of all ranks in order."""
    return int(abs(np.diff(ranks, axis=dim).flat[0])) if ranks.shape[dim] > 1 else 1


__all__ = ["DeviceMesh", "init_device_mesh"]
