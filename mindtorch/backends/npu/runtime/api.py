"""The functions of CANN's runtime, each bound when it is first used, and the errors that their codes become."""

import ctypes
import os
import threading
import time
from typing import Any, NoReturn

from mindtorch._support.errors import AcceleratorError, OutOfMemoryError, device_unavailable
from mindtorch.backends.npu.runtime import libraries
from mindtorch.backends.npu.runtime.codes import OUT_OF_MEMORY, SUCCESS, is_of_arguments, is_sticky, meaning_of
from mindtorch.backends.npu.runtime.prototypes import PROTOTYPES


class Functions:
    """`acl.aclrtMalloc(...)`: the function of the library, with its types set.

    `refused`: why no function may be called any more, if none may.
    """

    refused = ""

    def __getattr__(self, name: str) -> Any:
        if self.refused:
            raise RuntimeError(self.refused)
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


def refuse(reason: str) -> None:
    """Call no function any more, also where they are called without a look at the device."""
    vars(acl).clear()
    acl.refused = reason


def forget() -> None:
    """Bind everything anew: for tests that change the environment."""
    vars(acl).clear()
    libraries.forget()


# -------------------- errors --------------------

# Devices that are of no use any more, with the code and the text of the error after which they are not. (The error
# itself would keep alive what its traceback leads to.)
failed: dict[int, tuple[int, str]] = {}


class _Active(threading.local):
    """The device that the runtime's calls of this thread mean; -1 before there is one."""

    index = -1


active = _Active()


def check(code: int, function: str) -> None:
    """Raise what the code of a call stands for, unless it is success."""
    if code != SUCCESS:
        raise_code(code, function)


def raise_code(code: int, function: str, index: int | None = None) -> NoReturn:
    """The error of a code. Has to be called on the thread that got it, at once: the reason is kept by thread.

    `index`: the device that is meant, if it is not the thread's.
    """
    call = f"call {function} failed" if function.startswith("aclnn") else function
    message = f"NPU function error: {call}, error code is {code}\n{tag('00100', 'PTA call acl api failed')}"
    message += f"\n[Error]: {meaning_of(code)}"
    reason = recent_message()
    if reason:
        message += f"\n{reason}"
    if code in OUT_OF_MEMORY:
        raise OutOfMemoryError(message)
    meant = active.index if index is None else index
    if is_sticky(code) and meant >= 0:  # before there is one, a call may be made again
        failed.setdefault(meant, (code, message))
    raise AcceleratorError(message, code, is_of_arguments=function.startswith("aclnn") and is_of_arguments(code))


def ignore(code: int) -> None:
    """Go on after a call that need not have worked; what it has to say is not told with the next error."""
    if code != SUCCESS:
        recent_message()


def check_usable(device: int) -> None:
    """Refuse a device that has failed for good."""
    if failed and device in failed:
        code, first = failed[device]
        meaning = meaning_of(code).rstrip(".").lower()
        raise AcceleratorError(
            f"npu:{device} cannot be used by this process any more: it failed earlier with error code {code} "
            f"({meaning}). Restart the process.\n{first}",
            code,
        )


def recent_message() -> str:
    """What the runtime has to say of the last failure of this thread; asking forgets it."""
    function = optional("aclGetRecentErrMsg")
    found = function() if function is not None else None
    return found.decode(errors="replace").strip() if found else ""


def tag(code: str, text: str) -> str:
    """The line by which torch_npu's users look errors up."""
    moment = time.strftime("%Y-%m-%d-%H:%M:%S")
    rank = os.environ.get("RANK", "-1")
    return f"[ERROR] {moment} (PID:{os.getpid()}, Device:{active.index}, RankID:{rank}) ERR{code} {text}"


def out_pointer(ctype: Any) -> tuple[Any, Any]:
    """A variable for a function to fill, and its address."""
    variable = ctype()
    return variable, ctypes.byref(variable)
