"""Time the cases in one library and print the seconds per call as JSON: one process per library, run by __main__."""

import argparse
import importlib
import json
import re
import sys

from benchmarks.cases import CASES, Maker
from benchmarks.timing import seconds_per_call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="the module to time: mindtorch or torch")
    parser.add_argument("--only", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds per case")
    options = parser.parse_args()
    make = Maker(importlib.import_module(options.library))
    chosen = {name: prepare for name, prepare in CASES.items() if re.search(options.only, name)}
    times = {name: seconds_per_call(prepare(make), options.budget) for name, prepare in chosen.items()}
    json.dump(times, sys.stdout)


if __name__ == "__main__":
    main()
