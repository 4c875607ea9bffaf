"""The tensor: an array, its version counter, its place in the autograd graph, and what autograd keeps for it.

Only what needs nothing but those is here. Operators come from the generated code, and methods that need autograd,
printing, indexing or other higher layers come from the modules of those layers; all of them put their methods on the
class with `extend_tensor`.

Note [Made on demand]: version counters and autograd's fields are made when something needs them, which may happen in
two threads at once, for a weight that both use. One has to win: a second counter would not know of writes. So they are
made first, and then put where there still is none; between that look and the assignment there is no call, and without
one the interpreter does not change threads.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, overload
from weakref import ref

import numpy as np

from mindtorch._core import buffers, geometry, state, storage, typed_storage
from mindtorch._core.autograd_meta import DEFAULT, INFERENCE, MULTI_OUTPUT, NO_GRAD, AutogradMeta, ViewMeta
from mindtorch._core.batched_array import levels_of
from mindtorch._core.device import CPU, renamed
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import sparse_coo, strided
from mindtorch._core.memory_format import checked_format, contiguous_format, memory_format
from mindtorch._core.size import Size, size_of
from mindtorch._support import errors
from mindtorch._support.lazy import Unloaded

Extension = TypeVar("Extension", bound=type)

# The value of `_mt_edge` that means "look closer with edge_of". Every view has it, because a view follows its base:
# writing in place into the base can give the view a gradient.
ASK: tuple = ()

new_object = object.__new__
_new_tuple = tuple.__new__
_thread = state.thread
_Array = np.ndarray


if TYPE_CHECKING:
    from builtins import property as read_only

    from mindtorch._generated.tensor_methods import TensorBase
else:
    TensorBase = object

    class read_only(property):
        """A property whose refusal to be written has torch's text."""

        def __set__(self, tensor: Any, value: Any = None) -> None:
            raise AttributeError(f"attribute '{self.fget.__name__}' of 'torch._C.TensorBase' objects is not writable")

        __delete__ = __set__


class Tensor(TensorBase):
    """A multi-dimensional array with automatic differentiation."""

    __module__ = "mindtorch"

    __slots__ = ("_mt_array", "_mt_kind", "_mt_version", "_mt_edge", "_mt_meta", "__dict__", "__weakref__")

    _mt_array: Any
    _mt_kind: Any
    _mt_version: list[int] | None
    _mt_edge: Any
    _mt_meta: Any

    # -------------------- shape and memory --------------------

    @read_only
    def shape(self) -> Size:
        return _new_tuple(Size, self._mt_array.shape)

    @read_only
    def ndim(self) -> int:
        return self._mt_array.ndim

    def dim(self) -> int:
        return self._mt_array.ndim

    ndimension = dim

    def numel(self) -> int:
        return self._mt_array.size

    nelement = numel

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Any:
        shape = self._mt_array.shape
        if dim is None:
            return size_of(shape)
        return shape[dim] if type(dim) is int and 0 <= dim < len(shape) else _pick(shape, dim)

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> Any:
        strides = geometry.strides_of(self._mt_array)
        return strides if dim is None else _pick(strides, dim)

    def storage_offset(self) -> int:
        return buffers.byte_offset_of(self._mt_array) // self._mt_array.itemsize

    def data_ptr(self) -> int:
        return buffers.address_of(self._mt_array)

    def element_size(self) -> int:
        return self._mt_array.itemsize

    @read_only
    def itemsize(self) -> int:
        return self._mt_array.itemsize

    @read_only
    def nbytes(self) -> int:
        if self.is_sparse:
            raise RuntimeError(
                "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the "
                "nbytes of the indices and values.  If you want the size of the  equivalent dense tensor, multiply "
                "numel() by element_size()"
            )
        return self._mt_array.size * self._mt_array.itemsize

    def is_contiguous(self, *, memory_format: memory_format = contiguous_format) -> bool:
        return geometry.has_format(self._mt_array, checked_format(memory_format, "is_contiguous"))

    def untyped_storage(self) -> storage.UntypedStorage:
        return storage.storage_of(self._mt_array)

    def storage(self) -> typed_storage.TypedStorage:
        return typed_storage.typed_storage(self.untyped_storage(), self.dtype)

    def storage_type(self) -> typed_storage.LegacyStorage:
        return typed_storage.storage_type_of(self.dtype)

    # -------------------- kind of elements, device, layout --------------------

    @read_only
    def dtype(self) -> Dtype:
        return FROM_NUMPY[self._mt_array.dtype]

    def is_floating_point(self) -> bool:
        return FROM_NUMPY[self._mt_array.dtype].is_floating_point

    def is_complex(self) -> bool:
        return FROM_NUMPY[self._mt_array.dtype].is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    @read_only
    def device(self) -> Device:
        array = self._mt_array
        return CPU if type(array) is np.ndarray else array.device

    def get_device(self) -> int:
        index = self.device.index
        return -1 if index is None else index

    @read_only
    def is_cpu(self) -> bool:
        return self.device.type == "cpu"

    @read_only
    def is_meta(self) -> bool:
        return self.device.type == "meta"

    @read_only
    def is_npu(self) -> bool:
        return self.device.type == "npu"

    @read_only
    def is_cuda(self) -> bool:
        return self.device.type == renamed.get("cuda", "cuda")

    @read_only
    def layout(self) -> Layout:
        return getattr(self._mt_array, "layout", strided)

    @read_only
    def is_sparse(self) -> bool:
        return self.layout is sparse_coo

    # -------------------- versions and views --------------------

    @read_only
    def _version(self) -> int:
        counter = self._mt_version
        if counter is None and self._mt_meta is not None and self._mt_meta.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if counter is None else counter[0]

    @read_only
    def _base(self) -> "Tensor | None":
        meta = self._mt_meta
        base = None if meta is None else meta.shown_base if type(meta) is ViewMeta and meta.is_same else meta.base
        if base is None or not state.batch_levels:
            return base
        return base if levels_of(base._mt_array.shape) == levels_of(self._mt_array.shape) else None

    def _is_view(self) -> bool:
        return self._base is not None

    def is_inference(self) -> bool:
        return self._mt_meta is not None and self._mt_meta.inference

    is_mkldnn = is_mps = is_nested = is_quantized = is_vulkan = is_xla = is_xpu = (
        False  # kinds that exist in torch only
    )

    # -------------------- identity --------------------

    def __hash__(self) -> int:
        return id(self)

    __array_priority__ = 1000  # so that `ndarray * tensor` asks the tensor first

    def __len__(self) -> int:
        shape = self._mt_array.shape
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]


def _pick(values: Sequence[int], dim: int) -> int:
    if not values:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return values[geometry.wrap_dim(dim, len(values))]


def extend_tensor(methods: Extension) -> Extension:
    """Class decorator: puts the methods and properties of a class on Tensor.

    The one way in which higher layers give Tensor methods, so that this module imports nothing from them. In whatever
    order the modules are loaded, a generated method gives way to one that is written by hand.
    """
    is_generated = methods.__module__.startswith("mindtorch._generated.")
    for name, value in vars(methods).items():
        if name not in _CLASS_FURNITURE and not (is_generated and _has_own(name)):
            setattr(Tensor, name, value)
    return methods


def extend_tensor_later(module: str, names: Iterable[str]) -> None:
    """Have methods come from a module which puts them on Tensor, when one of them is first looked at."""
    for name in names:
        if not _has_own(name):
            setattr(Tensor, name, UnloadedMethod(module, name))


def load_methods() -> None:
    """Load all that `extend_tensor_later` has put off."""
    for value in list(vars(Tensor).values()):
        if type(value) is UnloadedMethod:
            import_module(value.module)


def _has_own(name: str) -> bool:
    """Whether a method is there, or is to come from a module that is written by hand."""
    if name not in vars(Tensor):
        return False
    found = vars(Tensor)[name]
    return type(found) is not UnloadedMethod or not found.module.startswith("mindtorch._generated.")


class UnloadedMethod(Unloaded):
    """What it stands for is put on Tensor: `super().add` is not the method of a subclass."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: type) -> Any:
        import_module(self.module)
        return vars(Tensor)[self.name].__get__(instance, owner)


# What a class statement puts into a class by itself; `__hash__` is set to None when there is an `__eq__`.
_CLASS_FURNITURE = frozenset(vars(type("Empty", (), {}))) | {
    "__annotations__",
    "__firstlineno__",
    "__hash__",
    "__static_attributes__",
}


# -------------------- making tensors --------------------


def wrap(array: Any, node: Any = None, kind: Any = None) -> Tensor:
    """A fresh tensor; with a node, the node's only output. `kind` is that of the array, if it is known."""
    tensor = new_object(Tensor)
    tensor._mt_array = array
    tensor._mt_kind = kind
    tensor._mt_version = None
    tensor._mt_meta = None
    if node is None:
        tensor._mt_edge = None
    else:
        node.output_shape = shape = array.shape
        node.output_dtype = dtype = array.dtype
        tensor._mt_edge = (node, 0, shape, dtype)
    if state.active_modes:
        _note_made(tensor)
    return tensor


def _note_made(tensor: Tensor) -> None:
    """Tell the function of a transform that runs in this thread of a tensor that it has made."""
    own = _thread.own_tensors
    if own is not None:
        own.made.add(tensor)


def fresh(array: Any, cls: type = Tensor) -> Any:
    """A tensor on an array that no op has made, marked if it is made in inference mode."""
    tensor = alias_of(wrap(array), cls)
    if _thread.inference:
        autograd_meta(tensor).inference = True
    return tensor


def wrap_output(array: Any, node: Any, output_nr: int) -> Tensor | None:
    """A fresh tensor that is one of several outputs of a node; to be called in the order of the outputs.

    An output that was not asked for (None) stays None, and keeps its place.
    """
    if node is not None:
        earlier = node.outputs if output_nr else ()
        set_outputs(node, [*earlier, None if array is None else (array.shape, array.dtype)])
    if array is None:
        return None
    tensor = wrap(array)
    if node is not None:
        tensor._mt_edge = edge_to(node, output_nr)
    return tensor


def wrap_outputs(arrays: Sequence[Any], node: Any) -> tuple[Tensor, ...]:
    """Fresh tensors that are all outputs of a node."""
    tensors = tuple([wrap(array) for array in arrays])
    if node is not None:
        set_outputs(node, [(array.shape, array.dtype) for array in arrays])
        for output_nr, tensor in enumerate(tensors):
            tensor._mt_edge = edge_to(node, output_nr)
    return tensors


def edge_to(node: Any, output_nr: int = 0) -> tuple:
    """The edge to an output of a node; see "The tensor" in docs/internals.md."""
    shape = node.output_shape
    return node, output_nr, shape, None if shape is None else node.output_dtype


def set_output(node: Any, array: Any) -> None:
    """Note what the only output of a node is like, unless the node keeps a list in any case."""
    if not node.several:
        node.output_shape = array.shape
        node.output_dtype = array.dtype


def set_outputs(node: Any, outputs: list) -> None:
    """Note shape and NumPy dtype of each output of a node, None for one that is no tensor or was not asked for."""
    node.output_shape = None
    node.outputs = outputs


def alias_of(tensor: Tensor, cls: type = Tensor) -> Any:
    """Another tensor on the same array, outside of the graph and with a version counter of its own (like `.data`).

    Without elements, or where memory has gaps or several elements at one place, it has an array of its own: kernels
    refuse to write to what they read, if it is the same array, but of two tensors they see it in dense memory only.
    """
    alias: Any = new_object(cls)
    array = tensor._mt_array
    is_same = tensor._mt_kind or type(array) is not _Array or (array.size and geometry.is_dense(array))
    alias._mt_array = array if is_same else array.view()
    alias._mt_kind = tensor._mt_kind
    alias._mt_version = None
    alias._mt_edge = None
    alias._mt_meta = None
    if state.active_modes:
        _note_made(alias)
    return alias


def same_object(tensor: Tensor) -> Any:
    """An alias of the same class, with all the attributes that users gave the tensor."""
    cls = type(tensor)
    alias = alias_of(tensor, cls)
    vars(alias).update(vars(tensor))
    own = [name for base in cls.__mro__[: cls.__mro__.index(Tensor)] for name in vars(base).get("__slots__", ())]
    for name in own:
        if hasattr(tensor, name):
            setattr(alias, name, getattr(tensor, name))
    return alias


def in_place_of(tensor: Tensor, array: Any) -> Tensor:
    """A tensor of another array, with the version of this one and its place in the graph."""
    stand_in = wrap(array, None, False)
    stand_in._mt_version = tensor._mt_version if tensor.is_inference() else share_version(tensor)
    stand_in._mt_edge = tensor._mt_edge
    stand_in._mt_meta = tensor._mt_meta
    if _thread.own_tensors is not None:
        _thread.own_tensors.note_stand_in(stand_in, ref(tensor))
    return stand_in


def view_of(tensor: Tensor, array: Any, node: Any, replay: tuple[Callable, tuple] | None) -> Tensor:
    """A view of a tensor: `array` shares memory with the tensor's; `replay` makes the view again from a new base."""
    meta = tensor._mt_meta
    own = new_object(ViewMeta)
    own.replay = replay
    if type(meta) is ViewMeta:
        own.base = meta.base
        own.parent = meta
        own.creation_meta = meta.creation_meta
    elif meta is not None and meta.inference:
        view = _inference_view(array)
        if _thread.own_tensors is not None:
            _thread.own_tensors.note_detached(view, tensor)
        return view
    else:
        own.base = tensor
    counter = tensor._mt_version
    if counter is None:
        counter = share_version(tensor)
    view = new_object(Tensor)
    view._mt_array = array
    view._mt_kind = None
    view._mt_version = counter
    view._mt_edge = ASK
    view._mt_meta = own
    own.version = counter[0]
    if node is not None:
        node.output_shape = shape = array.shape
        node.output_dtype = dtype = array.dtype
        own.edge = (node, 0, shape, dtype)
    elif not _thread.grad_enabled or _thread.inference:
        own.creation_meta = _stricter(own.creation_meta, DEFAULT)
    if state.active_modes:
        _note_made(view)
    return view


def same_as(tensor: Tensor, replay: tuple[Callable, tuple]) -> Tensor:
    """Another tensor that is this one to autograd, and no view to programs. `replay`: gives a tensor itself."""
    same = view_of(tensor, tensor._mt_array, None, replay)
    meta = same._mt_meta
    if type(meta) is ViewMeta:
        meta.base, meta.is_same, meta.creation_meta = tensor, True, DEFAULT
    return same


def view_outputs(
    tensor: Tensor, arrays: Sequence[Any], node: Any, replay: tuple[Callable, tuple] | None
) -> tuple[Tensor, ...]:
    """The views that one function returns together (unbind, split); autograd lets none of them be written in place."""
    views = tuple([view_of(tensor, array, None, replay) for array in arrays])
    if node is not None:
        set_outputs(node, [(array.shape, array.dtype) for array in arrays])
    meta = tensor._mt_meta
    creation_meta = _stricter(meta.creation_meta if type(meta) is ViewMeta else DEFAULT, MULTI_OUTPUT)
    for output_nr, view in enumerate(views):
        own = view._mt_meta
        if own.base is None:
            continue
        own.creation_meta = creation_meta
        own.output_nr = output_nr
        if node is not None:
            own.edge = edge_to(node, output_nr)
            own.version = view._mt_version[0]  # type: ignore[index]
    return views


class OutsideVersion(list):
    """The version of a tensor of inference mode that was made outside of it, where every new tensor has one and may be
    written. Inside, versions stay as they are."""

    def __setitem__(self, place: Any, version: Any) -> None:
        if not _thread.inference:
            super().__setitem__(place, version)


class InferenceVersion(list):
    """The version of what stands for a tensor of inference mode inside of a transform, and is none itself: it may be
    written in that mode only, where versions stay as they are. `depth`: of the transform whose function has made that
    tensor, 0 if none has."""

    __slots__ = ("depth",)

    def __init__(self, depth: int) -> None:
        super().__init__((0,))
        self.depth = depth

    def __setitem__(self, place: Any, version: Any) -> None:
        if not _thread.inference:
            raise errors.inference_write()


class LevelVersion(list):
    """The version of a tensor inside of a transform, where what is written through its `data` is not counted as it is
    outside (`counter`). `depth`: of the transform; `by_data`: how many writes these are."""

    __slots__ = ("counter", "depth", "by_data")

    def __init__(self, counter: list[int], depth: int) -> None:
        super().__init__((0,))  # which is asked for below; a list of nothing would count as no version
        self.counter = counter
        self.depth = depth
        self.by_data = 0

    def __getitem__(self, place: Any) -> Any:
        return self.counter[0] - self.by_data

    def __setitem__(self, place: Any, version: Any) -> None:
        self.counter[0] = version + self.by_data

    def note_data(self) -> None:
        """Count a write for the tensor outside only."""
        self.by_data += 1
        self.counter[0] += 1

    def as_it_is(self) -> "LevelVersion":
        """A copy that does not change: what is kept of the version with a tensor that a graph keeps, as a pass of a
        transform around this one compares the version that it sees."""
        counter = self.counter
        copied = LevelVersion(counter.as_it_is() if type(counter) is LevelVersion else [counter[0]], self.depth)
        copied.by_data = self.by_data
        return copied


class DataVersion(list):
    """The version of the `data` of a tensor inside of a transform: outside it is the tensor that is written."""

    __slots__ = ("whole",)

    def __init__(self, whole: LevelVersion) -> None:
        super().__init__((0,))
        self.whole = whole

    def __setitem__(self, place: Any, version: Any) -> None:
        super().__setitem__(place, version)
        self.whole.note_data()


def version_inside(version: Any, depth: int) -> int:
    """A version, or what is kept of one, as it is inside of the transform of a depth."""
    while type(version) is LevelVersion and version.depth > depth:
        version = version.counter
    return version if type(version) is int else version[0]


def enter_version(tensor: Tensor, depth: int) -> None:
    """Give a tensor the version that it has inside of the transform of a depth."""
    if not tensor.is_inference() and type(share_version(tensor)) in (list, LevelVersion):
        tensor._mt_version = LevelVersion(share_version(tensor), depth)


def leave_version(tensor: Tensor, depth: int) -> None:
    """Give a tensor the version that it has outside of the transform of a depth."""
    counter, meta = tensor._mt_version, tensor._mt_meta
    if type(counter) is LevelVersion and counter.depth == depth:
        tensor._mt_version = counter.counter
        if type(meta) is ViewMeta:
            meta.version += counter.by_data


def give_data_version(data: Tensor, tensor: Tensor) -> None:
    """Have what is written through the data of a tensor be written to the tensor outside of the transform that has made
    it."""
    counter = share_version(tensor)
    whole = counter.whole if type(counter) is DataVersion else counter
    if type(whole) is LevelVersion:
        data._mt_version = DataVersion(whole)


def detached(tensor: Tensor, array: Any) -> Tensor:
    """The tensor outside of the graph, on the same memory and with the same version (`detach`)."""
    meta = tensor._mt_meta
    is_inference = meta is not None and meta.inference
    if array.dtype is not tensor._mt_array.dtype and _thread.inference != is_inference:
        return _inference_view(array) if _thread.inference else wrap(array)  # view(dtype) makes a tensor of the mode
    alias = _inference_view(array) if is_inference else wrap(array)
    if _thread.own_tensors is not None and array.dtype is tensor._mt_array.dtype:  # view(dtype) is a view made inside
        _thread.own_tensors.note_detached(alias, tensor)
    if not is_inference:
        counter = tensor._mt_version
        alias._mt_version = share_version(tensor) if counter is None else counter
    elif not _thread.inference:
        alias._mt_version = OutsideVersion((0,))
    return alias


def be_of_inference(alias: Tensor) -> None:
    """Make an alias of a tensor of inference mode one of that mode: outside of it, it may be written."""
    autograd_meta(alias).inference = True
    if not _thread.inference and alias._mt_version is None:
        alias._mt_version = OutsideVersion((0,))


def share_version(tensor: Tensor) -> list[int]:
    """The tensor's version counter, made if it has none yet, to be shared with another tensor."""
    counter = tensor._mt_version
    if counter is None:  # Note [Made on demand]
        fresh = [0] if _thread.own_tensors is None else _thread.own_tensors.new_version(tensor)
        counter = tensor._mt_version
        if counter is None:
            tensor._mt_version = counter = fresh
    return counter


def _stricter(inherited: str, in_grad_mode: str) -> str:
    """How a view was made, given how its parent was made and what grad mode alone would say."""
    if _thread.inference:
        own = INFERENCE
    else:
        own = in_grad_mode if _thread.grad_enabled or _thread.writable_views else NO_GRAD
    return inherited if own == DEFAULT or inherited == INFERENCE else own


def _inference_view(array: Any) -> Tensor:
    """A view of a tensor that was made in inference mode is an ordinary tensor of the same kind."""
    view = wrap(array)
    autograd_meta(view).inference = True
    return view


def autograd_meta(tensor: Tensor) -> AutogradMeta:
    """The tensor's autograd fields, made if it has none yet."""
    meta = tensor._mt_meta
    if meta is None:  # Note [Made on demand]
        fresh = AutogradMeta()
        meta = tensor._mt_meta
        if meta is None:
            tensor._mt_meta = meta = fresh
    return meta


# -------------------- operands --------------------


class WrappedNumber:
    """A Python number where a tensor is expected (torch: a wrapped number). It never raises a result's precision."""

    __slots__ = ("_mt_array",)

    _mt_kind = False
    _mt_edge = None
    _mt_version = None
    _mt_meta = None
    requires_grad = False

    def __init__(self, number: int | float | complex) -> None:
        self._mt_array = number

    def __repr__(self) -> str:
        return f"WrappedNumber({self._mt_array!r})"


_NUMBER_TYPES = frozenset((int, float, bool, complex))


class NotATensor(AttributeError):
    """Something else stands where a call needs a tensor."""

    def __init__(self) -> None:
        super().__init__("not a tensor", name="_mt_array")


def lacks_array(error: BaseException) -> bool:
    """Whether an error came up where the array of a tensor, or its edge, was asked for."""
    return isinstance(error, AttributeError) and error.name in ("_mt_array", "_mt_edge")


def operand_of(value: Any) -> "Tensor | WrappedNumber":
    """The operand that a value stands for; `NotATensor` for a value that is neither a tensor nor a number."""
    if type(value) in _NUMBER_TYPES:  # here as well, as calls cost more than lines
        operand = new_object(WrappedNumber)
        operand._mt_array = value
        return operand
    other = as_operand(value)
    if other is None:
        raise NotATensor
    return other


def as_operand(value: Any) -> "Tensor | WrappedNumber | None":
    """The operand that a value stands for; None for a value that is neither a tensor nor a number."""
    if type(value) in _NUMBER_TYPES:
        operand = new_object(WrappedNumber)
        operand._mt_array = value
        return operand
    if isinstance(value, (Tensor, WrappedNumber)):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        # NumPy's bools are no Python bools: torch reads them as floats.
        return WrappedNumber(float(value) if value.dtype.kind == "b" else value.item())
    return WrappedNumber(value) if isinstance(value, (int, float, complex)) else None
