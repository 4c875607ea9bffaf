"""A `np.ufunc` from the addresses of inner loops, through NumPy's C interface: it costs what NumPy's own cost."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath

# The place of PyUFunc_FromFuncAndDataAndSignature in the table of NumPy's C functions for ufuncs.
_FROM_FUNCTIONS_AND_SIGNATURE = 31
_NO_IDENTITY = -1

_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_table = ctypes.cast(_pointer_in(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
_make = ctypes.PYFUNCTYPE(
    ctypes.py_object,
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p),  # loops, what each is handed, the dtypes of each
    *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),  # their number, inputs, outputs, identity
    *(ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int),  # name, docstring, an old flag
    ctypes.c_char_p,  # which operands are rows, if any are
)(_table[_FROM_FUNCTIONS_AND_SIGNATURE])

_kept: list[Any] = []  # NumPy keeps no copies of what it is given here, and the ufuncs stay as long as the process


def ufunc(
    name: str, loops: Sequence[tuple[Sequence[np.dtype[Any]], int]], owner: Any, signature: str | None = None
) -> np.ufunc:
    """A ufunc with some loops: the dtypes of the operands and of the results of each, and its address.

    With a signature, `(n)->()`, its loops take whole rows.

    `owner` is what has to stay for the addresses to be valid.
    """
    functions = (ctypes.c_void_p * len(loops))(*[address for _, address in loops])
    data = (ctypes.c_void_p * len(loops))()
    types = bytes([dtype.num for dtypes, _ in loops for dtype in dtypes])
    results = 1 if signature is None else signature.partition("->")[2].count("(")
    operands = len(loops[0][0]) - results
    texts = name.encode(), b"", signature.encode() if signature else None
    _kept.append((owner, functions, data, types, texts))
    made = ctypes.addressof(functions), ctypes.addressof(data), types
    return _make(*made, len(loops), operands, results, _NO_IDENTITY, *texts[:2], 0, texts[2])
