"""docs/compatibility.md, printed from the table of rules."""

from __future__ import annotations

from .report import Rule
from .rules import SECTIONS

_HEAD = """# Compatibility of operators

```sh
python -m codegen diff               # the working tree, compared with where the branch leaves main (on main: HEAD)
python -m codegen diff --release     # ... with the last release, which is what users have
python -m codegen diff next          # ... with where it leaves the branch `next`; what came to that since is left out
python -m codegen diff v0.1.0        # ... with a revision
python -m codegen diff v0.1.0 HEAD   # one state with another
python -m codegen diff main --run    # ... and run both on samples of the ops that the change reaches
```

compares two states of `ops.yaml`, `derivatives.yaml` and everything that is written by hand: kernels, functions,
modules, the engine, the generator, tests and pages. It judges every change. A state is a git revision, a folder, or
the snapshot of a release: `schemas/v<version>.txt`, which `python -m codegen snapshot` writes when a release is made.
A snapshot has only schemas; where the release's tag is in the repository, everything is compared. Nothing is checked
out: revisions are read from git's objects.

| Verdict | Meaning | Exit status |
|---|---|---|
| `breaking` | something that worked stops working, or gives another result | 1 |
| `forward-only` | what is written for the new version may not run on the old one | 2; with `--strict-forward` 1 |
| `unproven` | what is computed may differ, which its text does not tell: tests do, or `--run` | 0 |
| `compatible` | everything that worked works as before | 0 |
| `text` | nothing that runs can tell the difference | 0 |

Exit status 3: a state cannot be read. `--format` is `text`, `markdown` (a comment on a pull request), `json`
(`schemas/diff.schema.json` describes it), `html` (a page to review with) `github` (annotations), `sarif` (code
scanning) or `junit` (build servers); `--output` names a file to write to, and `--also html=FILE` writes another format
of the same comparison. Of many harmless changes, such as added ops, the text has the first few; `--all` shows them
all.

Calls in the reports are those of the op itself. A function of `nn.functional`, or a method, that is written by hand
under the name of an op has arguments and defaults of its own: where it is the only way to the op, the call is that of
`torch.ops.aten`.

## Two points of view
`S` rules are PyTorch's own check of schemas, exactly: a test compares the verdicts with PyTorch's on 30,000 random
changes. The check is stricter than Python callers in some ways (it minds the order of keyword-only arguments) and blind
in others (to it, a dtype is an `int`). Where the two differ both are reported: `P001` beside an `S` rule says that no
Python caller notices, and the other `P` rules are breaks that the check does not see.

What a formula or a rule computes cannot be known from its text. A changed formula is `unproven`: gradients should be
the same, and may not be. Changed promotion and shape rules are `breaking`, since the words stand for other results.
Changed code of helpers, kernels, composite functions and shape rules is `unproven` as well; comments, docstrings and
annotations are no change, and what several ops run is reported once. Whatever is kept until backward is shown as well,
because it costs memory. Derivatives, kernels and tags of in-place and out= variants that follow from an op are
reported with that op, and what changes in the same way in the schemas of an op and its variants is said once.

## What is written by hand
Functions, classes and methods that users reach are compared by their signatures (`F` rules), under the names that
users write: `torch.nn.functional.embedding`, `torch.optim.SGD`, `Tensor.tolist`. Other changes of code (`C` rules) are
reported once for each file, with the ops and the public functions that come to run it. These are found by following
names: a definition is used by what names it in its own file, or imports it. What every op passes through, such as the
dispatcher, is said to reach every op, and the engine every op with a gradient. A change of the generator is shown as
what the generated functions newly do, from the generated files of both states. Tests, samples and pages that are gone,
and tests that are skipped, are findings too (`Q` rules).

Both states are read with `ast` and not run: without `--run`, nothing of a pull request is executed.

## What a run shows
`--run` writes both states to a temporary folder, each with its own library, and runs each in a process of its own,
never from the tree that people work in; where `ops.yaml`, `derivatives.yaml` or the generator differ, HEAD's own
generator writes its generated files first. **This executes the code of the pull request**: do it where you would run
its tests. The GitHub workflow does, with no right but to read.

The ops are those that the findings name and those that changed code reaches; the report says which, and which have no
samples. All their samples are run on both sides, in all dtypes if the ops are few: errors, values, dtypes, shapes,
strides, what results share memory with, gradients, and how much is kept until backward. Where a formula changed,
gradients are held against differences of values, which tells which of two is right. Speed is measured in turn and has
to differ three times in a row before it is reported; memory is the most that a call has at a time. What differs from
call to call, such as memory that is not initialised, is left out. A finding that was `unproven` is `compatible` when
all ops that it reaches have been run and gave the same.

## How strictly
`schemas/review.yaml` says it of single rules, where a project wants to be stricter than the verdicts, or milder:

```yaml
- rule: C005
  severity: fail
  reason: the engine is changed with a second reviewer only
```

`fail` makes the command exit with 1, `warn` and `note` do not. The list of BASE counts if it has one, so that no
change makes its own review milder. `python -m codegen diff --explain S018` says what a rule means, `--list-rules`
lists them all.

## Releases
`python -m codegen changelog v0.1.0..v0.2.0` writes release notes from the findings: breaks first, each with the call
that stops working and what to do instead. It says which version the changes ask for: after 1.0.0 a break asks for
another first number and an addition for another second one; before, for the second and the third. `--callers FOLDER`
lists the lines of a package that call what breaks. `snapshot` refuses a version that is too small.

## Breaks that are wanted
`schemas/allowed.yaml` lists them:

```yaml
- op: sum.dim_IntList
  rule: S018
  reason: NumPy's name for the argument, as announced in 0.2.0
  expires: 2027-06-30
```

An entry covers the findings of one rule about one op and the variants derived from it; `expires` is the last day on
which it holds. Entries that have expired, that cover nothing or that name an unknown rule are errors, and an error is a
break. (An entry that BASE has as well may be there for an older change; it has to cover something only when BASE is a
release.)
"""


def compatibility_page() -> str:
    """docs/compatibility.md"""
    lines = [_HEAD, "## The rules", "A code keeps its meaning for ever. This page is printed from `codegen/diff/`."]
    for title, rules in SECTIONS.items():
        lines += ["", f"### {title}", "| Code | Verdict | Change | Instead |", "|---|---|---|---|", *map(_row, rules)]
    return "\n".join(lines) + "\n"


def _row(rule: Rule) -> str:
    return f'| <a id="{rule.code.lower()}"></a>{rule.code} | {rule.verdict} | {rule.title} | {rule.remedy} |'
