"""``python -m codegen diff [BASE [HEAD]]``: what a change of the operators breaks."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..diff.compare import compare
from ..diff.explain import explained, no_such_rule, rules_listed
from ..diff.formats import FORMATS
from ..diff.formats.text import render_for_people
from ..diff.report import Report
from ..diff.run.checkouts import CannotRun
from ..diff.run.comparison import with_run
from ..diff.state import State
from ..diff.states import (
    UnreadableState,
    base_of_change,
    last_release_state,
    read_state,
    review_of,
    start_of_change,
    working_tree,
)

HELP = "compare the operators of two states: what breaks for callers, gradients, saved memory and backends"
_RUN = (
    "run both states, each from a checkout in a temporary folder, on samples of the ops that the change reaches; "
    "without it nothing of either state is executed"
)
_LINK = "where the files of HEAD can be read, https://.../blob/<commit>: rules and places become links"
_STATE = "a git revision, a folder, or the snapshot of a release (v0.1.0, or its file)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 compatible, 1 breaking, 2 forward-only, 3 when a state cannot be read"
    base = f"{_STATE}; without HEAD, a branch is the place where this one leaves it; default: where it leaves main"
    parser.add_argument("base", nargs="?", metavar="BASE", help=base)
    parser.add_argument("head", nargs="?", metavar="HEAD", help="the same; default: the working tree")
    parser.add_argument("--release", action="store_true", help="compare with the last release: BASE is not given")
    parser.add_argument("--run", dest="run_both", action="store_true", help=_RUN)
    parser.add_argument("--all", action="store_true", help="show long lists of harmless changes, too")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print the report (default: text)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report to a file")
    also = "write the report in another format as well: --also html=report.html; may be given several times"
    parser.add_argument("--also", action="append", default=[], metavar="FORMAT=FILE", type=_format_and_file, help=also)
    parser.add_argument("--link", default="", metavar="URL", help=_LINK)
    parser.add_argument("--explain", metavar="RULE", help="say what a rule means, such as S018, and compare nothing")
    parser.add_argument("--list-rules", action="store_true", help="list the rules, and compare nothing")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour in text")
    parser.add_argument("--strict-forward", action="store_true", help="exit with 1 when the verdict is forward-only")


def run(options: argparse.Namespace, root: Path) -> int:
    if options.list_rules or options.explain is not None:
        return _told(options.explain, root)
    try:
        base = _base(options, root)
        head = read_state(root, options.head) if options.head is not None else working_tree(root)
    except UnreadableState as error:
        print(error, file=sys.stderr)
        return 3
    report = compare(base, head, date.today())
    if options.run_both:
        try:
            report = with_run(report, base, head, root, date.today())
        except CannotRun as error:
            print(error, file=sys.stderr)
            return 3
    report = replace(report, link=options.link.rstrip("/"))
    written = [_write(FORMATS[name](report), path) for name, path in options.also]
    if not _write(_rendered(report, options), options.output) or not all(written):
        return 3
    return report.exit_code(options.strict_forward)


def _told(rule: str | None, root: Path) -> int:
    """Print what one rule means, or all of them."""
    text = rules_listed() if rule is None else explained(rule, review_of(root).severities)
    if text is None:
        print(no_such_rule(str(rule)), file=sys.stderr)
        return 3
    sys.stdout.write(text)
    return 0


def _format_and_file(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    if name not in FORMATS or not separator or not path:
        raise argparse.ArgumentTypeError(f"'{text}' is no format and file: {', '.join(FORMATS)}, such as html=x.html")
    return name, Path(path)


def _base(options: argparse.Namespace, root: Path) -> State:
    if options.base is not None and options.release:
        raise UnreadableState("--release is the last release: leave it out, or BASE")
    if options.base is not None:
        return read_state(root, options.base) if options.head is not None else base_of_change(root, options.base)
    return last_release_state(root) if options.release else start_of_change(root)


def _rendered(report: Report, options: argparse.Namespace) -> str:
    if options.format != "text":
        return FORMATS[options.format](report)
    return render_for_people(report, _is_coloured(options), options.all)


def _is_coloured(options: argparse.Namespace) -> bool:
    """Colour is for people: on a terminal, unless https://no-color.org is asked for."""
    if options.color == "auto":
        return options.output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return bool(options.color == "always")


def _write(text: str, output: Path | None) -> bool:
    """Write the report to a file or print it; False, with a message, if the file cannot be written."""
    if output is None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))  # what a terminal cannot show becomes "?"
        return True
    try:
        output.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        print(f"cannot write {output}: {error.strerror}", file=sys.stderr)
        return False
    return True
