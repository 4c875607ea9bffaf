"""A program that uses the device through its C interface alone, as the backend will, but with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.npu_simulator.device import Device
from tests.npu_simulator.evaluate.contract import CODES
from tests.npu_simulator.generate import C_TYPES, signatures

KINDS = {
    **{kind: ctypes.c_void_p for kind in "TLSRIFB"},
    "z": ctypes.c_char_p,
    "d": ctypes.c_int32,
    "b": ctypes.c_bool,
    "c": ctypes.c_int8,
    "h": ctypes.c_int16,
    "i": ctypes.c_int32,
    "u": ctypes.c_uint32,
    "l": ctypes.c_int64,
    "q": ctypes.c_uint64,
    "g": ctypes.c_double,
    "f": ctypes.c_float,
}
assert KINDS.keys() == C_TYPES.keys()
LIBRARIES = ("libopapi.so", "libopapi_math.so", "libopapi_nn.so", "libopapi_cv.so", "libopapi_transformer.so")


class Failed(Exception):
    """A call that returned a code, with the message that the library had for it."""

    def __init__(self, function: str, code: int, message: str) -> None:
        super().__init__(f"{function}: {code}\n{message}")
        self.code, self.message = code, message


def int64s(values: Sequence[int]) -> Any:
    """A C array."""
    return (ctypes.c_int64 * len(values))(*values)


class Uploaded:
    """A NumPy array and all that it is a view of, in device memory, with a descriptor."""

    def __init__(self, client: Client, array: np.ndarray) -> None:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        self.client, self.root, self.array = client, root, array
        self.address = client.upload(root) if root.nbytes else None
        offset = (array.ctypes.data - root.ctypes.data) // array.itemsize if array.size else 0
        strides = [stride // array.itemsize for stride in array.strides]
        self.handle = client.tensor(array.shape, strides, array.dtype, self.address, offset, root.size)

    def fetch(self) -> None:
        """Brings the memory back into the array."""
        if self.address:
            self.client.download(self.address, self.root)

    def shape(self) -> tuple[int, ...]:
        """What the descriptor says, which is news for outputs whose size depends on the data."""
        dims, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        self.client.call("aclGetViewShape", ctypes.c_void_p(self.handle), ctypes.byref(dims), ctypes.byref(count))
        found = tuple(dims[: count.value])
        ctypes.CDLL(None).free(dims)
        return found


class Client:
    """The libraries of a device, bound with `ctypes`."""

    def __init__(self, device: Device) -> None:
        self.device = device
        folder = device.toolkit.libraries
        self.libraries = [device.library(name) for name in ("libascendcl.so", "libnnopbase.so")]
        self.libraries += [device.library(name) for name in LIBRARIES if (folder / name).exists()]
        self.table = signatures()
        for name in ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList"):
            self.function(f"aclCreate{name}").restype = ctypes.c_void_p
        self.function("aclGetRecentErrMsg").restype = ctypes.c_char_p

    def function(self, name: str) -> Any:
        """A function, from the first library that has it."""
        for library in self.libraries:
            if hasattr(library, name):
                return getattr(library, name)
        raise AttributeError(name)

    def message(self) -> str:
        """What aclGetRecentErrMsg has to say."""
        return (self.function("aclGetRecentErrMsg")() or b"").decode()

    def code(self, name: str, *arguments: Any) -> int:
        """Calls a function of the runtime; its code."""
        return int(self.function(name)(*arguments))

    def call(self, name: str, *arguments: Any) -> None:
        """The same, where 0 is expected."""
        code = self.code(name, *arguments)
        if code:
            raise Failed(name, code, self.message())

    def made(self, name: str, *arguments: Any) -> int:
        """Calls a function whose first argument takes what it makes."""
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made.value or 0

    def start(self, device: int = 0) -> None:
        """aclInit and aclrtSetDevice."""
        self.call("aclInit", None)
        self.call("aclrtSetDevice", device)

    def stop(self, device: int = 0) -> None:
        """The other way round."""
        self.call("aclrtResetDevice", device)
        self.call("aclFinalize")

    # -------------------- memory --------------------

    def malloc(self, size: int) -> int:
        """Device memory."""
        return self.made("aclrtMalloc", ctypes.c_size_t(size), 0)

    def free(self, address: int) -> None:
        """Gives it back."""
        self.call("aclrtFree", ctypes.c_void_p(address))

    def copy(self, to: Any, source: Any, size: int, kind: int) -> int:
        """aclrtMemcpy; its code."""
        return self.code("aclrtMemcpy", to, ctypes.c_size_t(size), source, ctypes.c_size_t(size), kind)

    def upload(self, array: np.ndarray) -> int:
        """The bytes of a contiguous array in new device memory."""
        address = self.malloc(array.nbytes)
        assert self.copy(ctypes.c_void_p(address), array.ctypes.data_as(ctypes.c_void_p), array.nbytes, 1) == 0
        return address

    def download(self, address: int, array: np.ndarray) -> None:
        """Device memory into a contiguous array."""
        self.call("aclrtSynchronizeDevice")
        assert self.copy(array.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(address), array.nbytes, 2) == 0

    # -------------------- descriptors --------------------

    def tensor(
        self,
        shape: Sequence[int],
        strides: Sequence[int],
        dtype: Any,
        address: int | None,
        offset: int = 0,
        storage: int = 0,
    ) -> int:
        """aclCreateTensor, as torch_npu calls it: the base address, and the storage as one dimension."""
        return int(
            self.function("aclCreateTensor")(
                int64s(shape),
                ctypes.c_uint64(len(shape)),
                CODES[np.dtype(dtype)],
                int64s(strides),
                ctypes.c_int64(offset),
                2,
                int64s([storage]),
                ctypes.c_uint64(1),
                ctypes.c_void_p(address),
            )
            or 0
        )

    def scalar(self, value: complex) -> int:
        """aclCreateScalar of a Python number."""
        dtype = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}[type(value)]
        holder = np.array(value, dtype)
        made = self.function("aclCreateScalar")(holder.ctypes.data_as(ctypes.c_void_p), CODES[np.dtype(dtype)])
        return int(made)

    def array(self, kind: str, values: Sequence[Any]) -> int:
        """An array of numbers."""
        name, c_type = {"I": ("Int", ctypes.c_int64), "F": ("Float", ctypes.c_float), "B": ("Bool", ctypes.c_bool)}[
            kind
        ]
        create = self.function(f"aclCreate{name}Array")
        return int(create((c_type * len(values))(*values), ctypes.c_uint64(len(values))))

    def list_of(self, kind: str, handles: Sequence[int]) -> int:
        """A list, which owns its members from now on."""
        create = self.function("aclCreateTensorList" if kind == "L" else "aclCreateScalarList")
        return int(create((ctypes.c_void_p * len(handles))(*handles), ctypes.c_uint64(len(handles))))

    # -------------------- ops --------------------

    def prepare(self, name: str, handles: Sequence[Any]) -> tuple[int, int]:
        """The first phase: workspace size and executor."""
        function = self.function(name + "GetWorkspaceSize")
        kinds = self.table[name].kinds
        assert len(kinds) == len(handles), f"{name} takes {len(kinds)} arguments"
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        values = [KINDS[kind](value) for kind, value in zip(kinds, handles)]
        code = function(*values, ctypes.byref(size), ctypes.byref(executor))
        if code:
            raise Failed(name + "GetWorkspaceSize", code, self.message())
        return size.value, executor.value or 0

    def prepare_and_drop(self, name: str, handles: Sequence[Any]) -> None:
        """The first phase alone. The executor is released the only way there is."""
        _, executor = self.prepare(name, handles)
        self.call("aclSetAclOpExecutorRepeatable", ctypes.c_void_p(executor))
        self.call("aclDestroyAclOpExecutor", ctypes.c_void_p(executor))

    def launch(self, name: str, workspace: int | None, size: int, executor: int, stream: int | None = None) -> None:
        """The second phase."""
        self.call(
            name, ctypes.c_void_p(workspace), ctypes.c_uint64(size), ctypes.c_void_p(executor), ctypes.c_void_p(stream)
        )

    def enqueue(self, name: str, handles: Sequence[Any], stream: int | None = None) -> int | None:
        """Both phases. The workspace, to be freed when the stream has passed."""
        size, executor = self.prepare(name, handles)
        workspace = self.malloc(size) if size else None
        try:
            self.launch(name, workspace, size, executor, stream)
        except Failed:
            if workspace:
                self.free(workspace)
            raise
        return workspace

    def run(self, name: str, *arguments: Any) -> list[tuple[int, ...]]:
        """An op on NumPy arrays: those that it writes are changed. The shapes of the descriptors afterwards."""
        with self.arguments(name, arguments) as (handles, uploaded):
            workspace = self.enqueue(name, handles)
            try:
                self.call("aclrtSynchronizeStream", None)
                for each in uploaded:
                    each.fetch()
                return [each.shape() for each in uploaded]
            finally:
                if workspace:
                    self.free(workspace)

    @contextmanager
    def arguments(self, name: str, arguments: Sequence[Any]) -> Iterator[tuple[list[Any], list[Uploaded]]]:
        """Handles for arguments, and what of them is in device memory. All of it goes at the end."""
        uploaded: list[Uploaded] = []
        owned: list[tuple[str, int]] = []
        handles = [self._handle(kind, value, uploaded, owned) for kind, value in zip(self.table[name].kinds, arguments)]
        try:
            yield handles, uploaded
        finally:
            for kind, handle in owned:
                self.call(f"aclDestroy{kind}", ctypes.c_void_p(handle))
            for each in uploaded:
                if each.address:
                    self.free(each.address)

    def _handle(self, kind: str, value: Any, uploaded: list[Uploaded], owned: list[tuple[str, int]]) -> Any:
        if value is None or kind not in "TLSRIFB":
            return value.encode() if kind == "z" and value is not None else value
        if kind in "LR":
            members = [self._member(kind, each, uploaded) for each in value]
            made, name = self.list_of(kind, members), "TensorList" if kind == "L" else "ScalarList"
        elif kind in "TS":
            made, name = self._member(kind, value, uploaded), "Tensor" if kind == "T" else "Scalar"
        else:
            made, name = self.array(kind, value), {"I": "IntArray", "F": "FloatArray", "B": "BoolArray"}[kind]
        owned.append((name, made))
        return made

    def _member(self, kind: str, value: Any, uploaded: list[Uploaded]) -> int:
        if kind in "SR":
            return self.scalar(value)
        uploaded.append(Uploaded(self, value))
        return uploaded[-1].handle
