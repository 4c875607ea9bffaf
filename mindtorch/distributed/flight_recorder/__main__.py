"""`python -m mindtorch.distributed.flight_recorder DUMPS`: which process is behind at which call."""

import argparse
import pickle
import sys
from pathlib import Path

from mindtorch.distributed.flight_recorder import report


def main(arguments: list[str] | None = None) -> int:
    """Print what the dumps of several processes say; exit code 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m mindtorch.distributed.flight_recorder",
        description="Which process is behind at which call, and where the processes differ.",
    )
    parser.add_argument("dumps", nargs="+", type=Path, help="files whose names end in the rank, or a folder of them")
    parser.add_argument("--html", type=Path, help="write a page as well")
    options = parser.parse_args(arguments)
    try:
        dumps = report.read(options.dumps)
    except (OSError, ValueError, pickle.UnpicklingError) as error:
        raise SystemExit(str(error)) from None
    sys.stdout.write(report.text(dumps) + "\n")
    if options.html:
        options.html.write_text(report.page(dumps))
    return int(any(report.findings(group, dumps) for group in report.groups(dumps)))


if __name__ == "__main__":
    sys.exit(main())
