"""Running functions in threads that change as often as the interpreter can change them."""

import sys
import threading
from contextlib import contextmanager


@contextmanager
def quick_changes():
    """In this block, threads take turns all the time and not every 5 ms."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def run_together(*functions, repeats=1):
    """Call functions, each of them in a thread of its own and many times: a list of results for each."""
    start = threading.Barrier(len(functions))
    results = [[] for _ in functions]
    errors = []

    def work(function, found):
        try:
            start.wait()
            for _ in range(repeats):
                found.append(function())
        except BaseException as error:  # noqa: BLE001 (raised again by the thread that waits)
            errors.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(functions, results, strict=True)]
    with quick_changes():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return results
