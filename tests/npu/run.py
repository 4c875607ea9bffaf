"""Run a program on the simulated NPU, where CANN is not installed: `python -m tests.npu.run program.py --options`."""

import runpy
import sys

from mindtorch.backends.npu.runtime import libraries
from tests.npu import simulator


def main() -> None:
    """The program as if it were run by itself."""
    if not libraries.is_present():
        sys.stdout.write("no libraries of CANN are here: on the simulated device, which says nothing about speed\n")
        simulator.start()
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
