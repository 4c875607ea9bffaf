"""What loaders are made of, where programs find it in torch."""

import atexit
import sys
from multiprocessing import util as util  # its exit function, which ends workers, is to run after the one below

from mindtorch._utils import ExceptionWrapper as ExceptionWrapper
from mindtorch.utils.data._utils import collate as collate
from mindtorch.utils.data._utils import fetch as fetch
from mindtorch.utils.data._utils import pin_memory as pin_memory
from mindtorch.utils.data._utils import worker as worker

IS_WINDOWS = sys.platform == "win32"
HAS_NUMPY = True

# How many seconds a loader waits before it looks whether its workers are alive, and for them to end.
MP_STATUS_CHECK_INTERVAL = 5.0

python_exit_status = False  # whether the interpreter is ending


def _set_python_exit_flag() -> None:
    global python_exit_status
    python_exit_status = True


atexit.register(_set_python_exit_flag)
