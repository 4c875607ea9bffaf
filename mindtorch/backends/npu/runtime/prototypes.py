"""The functions of CANN's runtime that are called, with the types of their arguments as the headers have them."""

from ctypes import (
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, NamedTuple

from mindtorch.backends.npu.runtime.libraries import COLLECTIVES, DRIVER, OBJECTS, RUNTIME


class Prototype(NamedTuple):
    """Of one function: in which libraries it may be, what it takes, and what it returns."""

    libraries: tuple[str, ...]
    arguments: tuple[Any, ...]
    result: Any = c_int


_P = c_void_p  # handles, addresses, and pointers to what a function fills


def _of(libraries: tuple[str, ...], functions: dict[str, tuple[Any, ...]]) -> dict[str, Prototype]:
    return {name: Prototype(libraries, arguments) for name, arguments in functions.items()}


PROTOTYPES: dict[str, Prototype] = {
    **_of(
        RUNTIME,
        {
            # the process
            "aclInit": (c_char_p,),
            "aclFinalize": (),
            "aclrtGetVersion": (_P, _P, _P),
            # devices and contexts
            "aclrtGetDeviceCount": (_P,),
            "aclrtSetDevice": (c_int32,),
            "aclrtGetDevice": (_P,),
            "aclrtResetDevice": (c_int32,),
            "aclrtSynchronizeDevice": (),
            "aclrtGetCurrentContext": (_P,),
            "aclrtSetCurrentContext": (_P,),
            "aclrtGetMemInfo": (c_int, _P, _P),
            "aclrtDeviceCanAccessPeer": (_P, c_int32, c_int32),
            "aclrtDeviceEnablePeerAccess": (c_int32, c_uint32),
            "aclrtSetSysParamOpt": (c_int, c_int64),
            "aclrtSetOpExecuteTimeOut": (c_uint32,),
            "aclrtSetOpWaitTimeout": (c_uint32,),
            # memory
            "aclrtMallocAlign32": (_P, c_size_t, c_int),
            "aclrtFree": (_P,),
            "aclrtMallocHost": (_P, c_size_t),
            "aclrtFreeHost": (_P,),
            "aclrtMemset": (_P, c_size_t, c_int32, c_size_t),
            "aclrtMemsetAsync": (_P, c_size_t, c_int32, c_size_t, _P),
            "aclrtMemcpy": (_P, c_size_t, _P, c_size_t, c_int),
            "aclrtMemcpyAsync": (_P, c_size_t, _P, c_size_t, c_int, _P),
            # streams
            "aclrtCreateStreamWithConfig": (_P, c_uint32, c_uint32),
            "aclrtDestroyStream": (_P,),
            "aclrtDestroyStreamForce": (_P,),
            "aclrtSynchronizeStream": (_P,),
            "aclrtSynchronizeStreamWithTimeout": (_P, c_int32),
            "aclrtStreamQuery": (_P, _P),
            "aclrtStreamAbort": (_P,),
            "aclrtStreamWaitEvent": (_P, _P),
            "aclrtSetStreamFailureMode": (_P, c_uint64),
            # events
            "aclrtCreateEventExWithFlag": (_P, c_uint32),
            "aclrtDestroyEvent": (_P,),
            "aclrtRecordEvent": (_P, _P),
            "aclrtQueryEventStatus": (_P, _P),
            "aclrtSynchronizeEvent": (_P,),
            "aclrtEventElapsedTime": (_P, _P, _P),
        },
    ),
    "aclGetRecentErrMsg": Prototype(RUNTIME, (), c_char_p),
    "aclrtGetSocName": Prototype(RUNTIME, (), c_char_p),
    "drvGetDevNum": Prototype(DRIVER, (_P,)),
    # objects: what ACLNN functions take
    "aclCreateTensor": Prototype(OBJECTS, (_P, c_uint64, c_int, _P, c_int64, c_int, _P, c_uint64, _P), _P),
    "aclCreateScalar": Prototype(OBJECTS, (_P, c_int), _P),
    "aclCreateIntArray": Prototype(OBJECTS, (_P, c_uint64), _P),
    "aclCreateFloatArray": Prototype(OBJECTS, (_P, c_uint64), _P),
    "aclCreateBoolArray": Prototype(OBJECTS, (_P, c_uint64), _P),
    "aclCreateTensorList": Prototype(OBJECTS, (_P, c_uint64), _P),
    "aclCreateScalarList": Prototype(OBJECTS, (_P, c_uint64), _P),
    **_of(
        OBJECTS,
        {
            "aclDestroyTensor": (_P,),
            "aclDestroyScalar": (_P,),
            "aclDestroyIntArray": (_P,),
            "aclDestroyFloatArray": (_P,),
            "aclDestroyBoolArray": (_P,),
            "aclDestroyTensorList": (_P,),
            "aclDestroyScalarList": (_P,),
            "aclGetViewShape": (_P, _P, _P),
            "aclSetAclOpExecutorRepeatable": (_P,),
            "aclDestroyAclOpExecutor": (_P,),
        },
    ),
    # collectives; counts, dtype, reduction, root and peer stand before the communicator and the stream
    "HcclGetCommConfigCapability": Prototype(COLLECTIVES, (), c_uint32),
    "HcclGetErrorString": Prototype(COLLECTIVES, (c_int,), c_char_p),
    **_of(
        COLLECTIVES,
        {
            "HcclGetRootInfo": (_P,),
            "HcclCommInitRootInfoConfig": (c_uint32, _P, c_uint32, _P, _P),
            "HcclCommDestroy": (_P,),
            "HcclGetCommAsyncError": (_P, _P),
            "HcclAllReduce": (_P, _P, c_uint64, c_int, c_int, _P, _P),
            "HcclReduce": (_P, _P, c_uint64, c_int, c_int, c_uint32, _P, _P),
            "HcclReduceScatter": (_P, _P, c_uint64, c_int, c_int, _P, _P),
            "HcclBroadcast": (_P, c_uint64, c_int, c_uint32, _P, _P),
            "HcclAllGather": (_P, _P, c_uint64, c_int, _P, _P),
            "HcclScatter": (_P, _P, c_uint64, c_int, c_uint32, _P, _P),
            "HcclAlltoAllV": (_P, _P, _P, c_int, _P, _P, _P, c_int, _P, _P),
            "HcclBarrier": (_P, _P),
            "HcclBatchSendRecv": (_P, c_uint32, _P, _P),
        },
    ),
}

# What the letters of the table of signatures (codegen/aclnn_signatures.tsv) stand for.
KINDS: dict[str, Any] = {
    **dict.fromkeys("TLSRIFB", c_void_p),
    "d": c_int,
    "z": c_char_p,
    "b": c_bool,
    "c": c_int8,
    "h": c_int16,
    "i": c_int32,
    "u": c_uint32,
    "l": c_int64,
    "q": c_uint64,
    "g": c_double,
    "f": c_float,
}
