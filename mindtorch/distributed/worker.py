"""What `mindtorch.distributed.run` starts in each process: the program, with PyTorch's variables in its environment."""

import os
import runpy
import sys
from pathlib import Path

_VARIABLES = {
    "RANK": "OMPI_COMM_WORLD_RANK",
    "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE",
    "LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "LOCAL_WORLD_SIZE": "OMPI_COMM_WORLD_LOCAL_SIZE",
    "GROUP_RANK": "OMPI_COMM_WORLD_NODE_RANK",
}


def main() -> None:
    """Run the program of the command line as `__main__`."""
    for name, source in _VARIABLES.items():
        if source in os.environ:
            os.environ[name] = os.environ[source]
    kind, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    if kind == "module":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program).resolve().parent)
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
