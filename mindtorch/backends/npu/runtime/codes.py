"""CANN's error codes and enums: numbers from its headers, with what users are to be told of them."""

from enum import IntEnum

# -------------------- enums --------------------


class CopyKind(IntEnum):
    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3


HUGE_FIRST = 0  # of memory: large pages where there are some
HBM = 1  # whose free and total size is asked for

STREAM_FAST_LAUNCH, STREAM_FAST_SYNC = 1, 2
STOP_ON_FAILURE = 1

EVENT_SYNC, EVENT_TIMING = 0x01, 0x08
EVENT_COMPLETE = 1  # of aclrtQueryEventStatus; its older relative counts the other way around
STREAM_COMPLETE = 0  # of aclrtStreamQuery

FORMAT_ND = 2
FORMAT_BY_NDIM = {3: 47, 4: 0, 5: 30}  # NCL, NCHW, NCDHW

DTYPE_CODES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "uint16": 7,
    "uint32": 8,
    "int64": 9,
    "uint64": 10,
    "float64": 11,
    "bool": 12,
    "complex64": 16,
    "complex128": 17,
    "bfloat16": 27,
    "float8_e5m2": 35,
    "float8_e4m3fn": 36,
}

# -------------------- errors --------------------

SUCCESS = 0
REPEAT_INITIALIZE = 100002

_MEANINGS = {
    100000: "Invalid argument.",
    100001: "The runtime is not initialized.",
    100037: "The runtime has been finalized already.",
    100039: "The library is a stub for compilers, not the real one: check LD_LIBRARY_PATH.",
    107000: "Invalid argument.",
    107001: "Invalid device ID.",
    107002: "The context is empty: the thread has no device.",
    107003: "The stream is not in the current context.",
    107006: "The event has no timestamp.",
    107007: "The timestamps of the events are reversed.",
    107008: "The address is not aligned.",
    107016: "The type of memory is wrong.",
    107017: "The handle is invalid.",
    107019: "Waiting took longer than the timeout.",
    107020: "A task took longer than the timeout.",
    107022: "The tasks of the device were aborted.",
    107023: "The stream was aborted.",
    107030: "Not supported while a graph is captured.",
    148049: "ASCEND_OPP_PATH is invalid.",
    161001: "A parameter is a null pointer.",
    161002: "A parameter is invalid.",
    200000: "Memory cannot be allocated on the host.",
    200001: "The interface is not supported.",
    200006: "The feature is not supported.",
    207000: "The feature is not supported.",
    207001: "Device memory cannot be allocated.",
    207002: "Device memory cannot be released.",
    207003: "A value overflowed.",
    207004: "There is no device.",
    207007: "There is no further event.",
    207008: "There is no further stream.",
    207018: "The device is out of memory.",
    207020: "The resource is busy for too long.",
    361001: "The runtime failed.",
    507000: "An internal error of the runtime.",
    507002: "The stream is full of tasks.",
    507010: "The device's heartbeat was lost.",
    507011: "A model failed.",
    507013: "A copy by DMA failed.",
    507014: "A kernel on an AI Core took longer than the timeout.",
    507015: "A kernel on an AI Core failed.",
    507017: "A kernel on an AI CPU took longer than the timeout.",
    507018: "A kernel on an AI CPU failed.",
    507034: "A kernel on a vector core took longer than the timeout.",
    507035: "A kernel on a vector core failed.",
    507046: "Synchronizing the stream took longer than the timeout.",
    507047: "Synchronizing the event took longer than the timeout.",
    507048: "A task across devices took longer than the timeout.",
    507053: "The device's memory is faulty.",
    507054: "The device's memory has an error that cannot be corrected.",
    507056: "The link to another device failed.",
    507057: "Another device is suspected of a fault.",
    507899: "An internal error of the driver.",
    507904: "A collective could not be repeated.",
    561001: "The shape of the result cannot be inferred.",
    561002: "The kernel cannot be tiled for these shapes.",
    561003: "There is no kernel for these arguments.",
    561101: "The executor cannot be made.",
    561102: "The executor cannot be taken over.",
    561103: "A null pointer, inside of the op.",
    561107: "The folder of ops was not found: set ASCEND_OPP_PATH.",
    561112: "The package with the kernels was not found.",
    561201: "The handle of the runtime is invalid.",
}
# By the first digits, where a code is not listed.
_RANGES = {
    "16": "A parameter of the op is wrong.",
    "36": "The runtime failed inside of the op.",
    "56": "An internal error of the op.",
    "10": "The call is wrong.",
    "14": "The call is wrong.",
    "20": "A resource is missing.",
    "30": "The storage is over its limit.",
    "50": "The device failed.",
}
OUT_OF_MEMORY = frozenset((207001, 207018))
# After these the device does nothing more for this process.
_STICKY_FROM, _STICKY_TO = 507000, 507999
_PASSING = frozenset((507002, 507046, 507047))


def meaning_of(code: int) -> str:
    """What a code means, in a sentence."""
    return _MEANINGS.get(code) or _RANGES.get(str(code)[:2], "An unknown error.")


def is_of_arguments(code: int) -> bool:
    """Whether an op does not take what it was given."""
    return code in (161001, 161002)


def is_sticky(code: int) -> bool:
    """Whether a device is of no use to a process after this error."""
    return _STICKY_FROM <= code <= _STICKY_TO and code not in _PASSING
