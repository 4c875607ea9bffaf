"""The thread that ends collectives which take too long."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING
from weakref import WeakSet

from mindtorch.distributed.flight_recorder import RECORDER

if TYPE_CHECKING:
    from mindtorch.distributed.process_group import ProcessGroup

_PERIOD = 0.1
_STUCK = 0.5  # seconds after which a collective that was aborted has to have returned; it takes a millisecond


class Watchdog:
    """Looks at the groups of this process ten times a second; it runs while there is one."""

    def __init__(self) -> None:
        self._groups: WeakSet[ProcessGroup] = WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, group: ProcessGroup) -> None:
        """Watch a group of several processes."""
        if group.size() == 1:
            return
        with self._lock:
            self._groups.add(group)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watchdog of process groups", daemon=True)
                self._thread.start()

    def remove(self, group: ProcessGroup) -> None:
        with self._lock:
            self._groups.discard(group)

    def _run(self) -> None:
        while True:
            time.sleep(_PERIOD)
            with self._lock:
                groups = list(self._groups)
                if not groups:
                    self._thread = None
                    return
            for group in groups:
                _look_at(group)
            RECORDER.dump_if_asked()


def _look_at(group: ProcessGroup) -> None:
    if group.failure is None:
        group.look_at_devices()
    started = group.started
    if started is None:
        return
    kind, since, call = started
    late = time.monotonic() - since - group.timeout.total_seconds()
    if late <= 0:
        return
    if group.failure is None:
        text = group.timeout_text(kind, call, int(1000 * (time.monotonic() - since)))
        group.abort(text)
    elif late > _STUCK and group.started is started:
        _take_down(group)


def _take_down(group: ProcessGroup) -> None:
    """End this process: MPI does not give up a large transfer when the other side has stopped in the middle of it."""
    sys.stderr.write(
        f"{group.failure}\nThe collective can't be given up, and its memory may be half written. To avoid data "
        "inconsistency, we are taking the entire process down.\n"
    )
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGABRT)


WATCHDOG = Watchdog()
