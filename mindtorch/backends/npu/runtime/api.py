"""The functions of CANN's runtime, each bound when it is first used, and the errors that their codes become."""

import ctypes
import os
import threading
import time
from typing import Any, NoReturn

from mindtorch.backends.npu.runtime import libraries
from mindtorch.backends.npu.runtime.codes import OUT_OF_MEMORY, SUCCESS, is_sticky, meaning_of
from mindtorch.backends.npu.runtime.prototypes import PROTOTYPES
from mindtorch.errors import AcceleratorError, OutOfMemoryError, device_unavailable


class Functions:
    """`acl.aclrtMalloc(...)`: the function of the library, with its types set."""

    def __getattr__(self, name: str) -> Any:
        function = optional(name)
        if function is None:
            if not libraries.is_present():
                raise device_unavailable("npu")
            raise NotImplementedError(f"{name} is in none of CANN's libraries: this version of CANN does not have it")
        return function


acl = Functions()


def optional(name: str) -> Any:
    """A function, or None if the installed version has none of this name."""
    if name not in PROTOTYPES:
        raise AttributeError(name)
    if name in vars(acl):
        return vars(acl)[name]
    prototype = PROTOTYPES[name]
    function = libraries.symbol(name, prototype.libraries)
    if function is not None:
        function.argtypes, function.restype = prototype.arguments, prototype.result
        vars(acl)[name] = function
    return function


def forget() -> None:
    """Bind everything anew: for tests that change the environment."""
    vars(acl).clear()
    libraries.forget()


# -------------------- errors --------------------

# Devices that are of no use any more, with the error after which they are not.
failed: dict[int, AcceleratorError] = {}


class _Active(threading.local):
    """The device that the runtime's calls of this thread mean; -1 before there is one."""

    index = -1


active = _Active()


def check(code: int, function: str) -> None:
    """Raise what the code of a call stands for, unless it is success."""
    if code != SUCCESS:
        raise_code(code, function)


def raise_code(code: int, function: str) -> NoReturn:
    """The error of a code. Has to be called on the thread that got it, at once: the reason is kept by thread."""
    message = f"{function}: NPU error, error code is {code}\n[Error]: {meaning_of(code)}"
    reason = _recent_message()
    if reason:
        message += f"\n{reason}"
    message += f"\n{_tag(100, 'call acl api failed')}"
    if code in OUT_OF_MEMORY:
        raise OutOfMemoryError(message)
    error = AcceleratorError(message, code)
    if is_sticky(code):
        failed.setdefault(active.index, error)
    raise error


def check_usable(device: int) -> None:
    """Refuse a device that has failed for good."""
    if failed and device in failed:
        first = failed[device]
        code, meaning = first.error_code, meaning_of(first.error_code).rstrip(".").lower()
        raise AcceleratorError(
            f"npu:{device} cannot be used by this process any more: it failed earlier with error code {code} "
            f"({meaning}). Restart the process.\n{first}",
            code,
        )


def _recent_message() -> str:
    function = optional("aclGetRecentErrMsg")
    found = function() if function is not None else None
    return found.decode(errors="replace").strip() if found else ""


def _tag(code: int, text: str) -> str:
    """The line by which torch_npu's users look errors up."""
    moment = time.strftime("%Y-%m-%d-%H:%M:%S")
    rank = os.environ.get("RANK", "-1")
    return f"[ERROR] {moment} (PID:{os.getpid()}, Device:{active.index}, RankID:{rank}) ERR00{code:03} PTA {text}"


def out_pointer(ctype: Any) -> tuple[Any, Any]:
    """A variable for a function to fill, and its address."""
    variable = ctype()
    return variable, ctypes.byref(variable)
