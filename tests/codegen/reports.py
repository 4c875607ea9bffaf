"""Reports made by hand for the tests of the formats: an ordinary one, one of wicked texts, and large ones."""

from datetime import date

from codegen.diff.report import Allowance, Finding, Marked, OpChange, Report, Rule, Verdict
from codegen.model import Location

RENAMED = Rule("S100", Verdict.breaking, "schema", "An argument has a new name", "Keep the old name")
DROPPED = Rule("D100", Verdict.breaking, "gradient", "A formula is gone", "Keep the formula")
WIDENED = Rule("S200", Verdict.forward_only, "schema", "An argument accepts more", "")
SAVED = Rule(
    "M100", Verdict.compatible, "memory", "More is kept for the backward pass", "Use the result in the formula"
)
ADDED = Rule("S300", Verdict.compatible, "schema", "A new op")
SPELLED = Rule("S400", Verdict.text, "schema", "A type is spelled differently")

EXPIRED = (
    "schemas/allowed.yaml:7:3: error the entry for S100 of sin has expired on 2001-01-01\n"
    "help: undo the change, or give the entry a new reason and day"
)
LATER = date(2999, 1, 1)
WICKED = 'a|b <script>alert("x")</script> ``` `code|` *bold* [x](http://e.org) @octocat #12 \\| 100%\r\n::error::, é 🎉'


def marked(text: str) -> Marked:
    """A text whose changed parts are between braces."""
    spans, plain = [], ""
    for number, part in enumerate(text.replace("}", "{").split("{")):
        spans += [(len(plain), len(plain) + len(part))] if number % 2 else []
        plain += part
    return Marked(plain, tuple(spans))


def at(line: int, file: str = "ops.yaml") -> Location:
    return Location(file, line, 9)


def renamed(op: str = "sum.dim", line: int = 12) -> OpChange:
    old = marked(f"{op}(Tensor self, int[1]? {{dim}}, bool keepdim=False) -> Tensor")
    new = marked(f"{op}(Tensor self, int[1]? {{axis}}, bool keepdim=False) -> Tensor")
    caller = "`x.sum(dim=0)` by keyword stops working"
    finding = Finding(
        RENAMED, op, "argument `dim` is now called `axis`", caller, "Keep the name `dim`", old, new, at(line)
    )
    return OpChange(op, "reduction", old, new, (finding,))


def dropped() -> OpChange:
    schema = Marked("exp2(Tensor self) -> Tensor")
    old, new = marked("grad * conj(result) * {LOG_2}"), marked("grad * conj(result) * {math.log(2) + self * 0}")
    findings = (
        Finding(SAVED, "exp2", "now keeps `self` until the backward pass", "", SAVED.remedy, old, new, at(40)),
        Finding(DROPPED, "exp2", "the forward-mode formula is gone", "`forward_ad` raises an error", DROPPED.remedy,
                Marked("auto_element_wise"), None, at(41, "derivatives.yaml")),
    )  # fmt: skip
    return OpChange("exp2", "pointwise", schema, schema, findings)


def allowed() -> OpChange:
    change = renamed("mean.dim", 80)
    (finding,) = change.findings
    allowance = Allowance("mean.dim", "S100", "as NumPy calls it", LATER, at(3, "schemas/allowed.yaml"))
    covered = Finding(
        RENAMED, "mean.dim", finding.message, finding.caller, finding.remedy, finding.old, finding.new,
        finding.location, allowance,
    )  # fmt: skip
    return OpChange("mean.dim", "reduction", change.old_schema, change.new_schema, (covered,))


def removed() -> OpChange:
    old = Marked("trunc_divide(Tensor self, Tensor other) -> Tensor", ((0, 49),))
    finding = Finding(RENAMED, "trunc_divide", "the op is gone", "`torch.trunc_divide(x, y)` is an AttributeError",
                      "Deprecate it first", old, None, at(300))  # fmt: skip
    return OpChange("trunc_divide", "pointwise", old, None, (finding,))


def widened() -> OpChange:
    old = marked("clip(Tensor self, {int} max) -> Tensor")
    new = marked("clip(Tensor self, {Scalar} max) -> Tensor")
    finding = Finding(
        WIDENED, "clip", "argument `max` accepts a Scalar, no longer only an int", "", "", old, new, at(9)
    )
    return OpChange("clip", "pointwise", old, new, (finding,))


def added(op: str = "logaddexp10", line: int = 200, family: str = "pointwise") -> OpChange:
    new = Marked(f"{op}(Tensor self, Tensor other) -> Tensor")
    finding = Finding(ADDED, op, "the op is new", f"`torch.{op}(x, y)`", "", None, new, at(line))
    return OpChange(op, family, None, new, (finding,))


def spelled() -> OpChange:
    old, new = marked("split(Tensor self, {int} size) -> Tensor"), marked("split(Tensor self, {SymInt} size) -> Tensor")
    finding = Finding(SPELLED, "split", "`int` is now spelled `SymInt`", "", "", old, new, at(70))
    return OpChange("split", "view", old, new, (finding,))


def ordinary() -> Report:
    """Every verdict, a formula, an allowed break, a removed op, a note and an error of the allow-list."""
    changes = (renamed(), dropped(), removed(), widened(), allowed(), added(), added("fft_zoom", 400, "fft"), spelled())
    notes = ("v0.1.0 is a snapshot, which has no formulas: derivatives were not compared",)
    return Report("v0.1.0", "the working tree", changes, 463, notes, (EXPIRED,))


def harmless() -> Report:
    return Report("main", "HEAD", (added(), spelled()), 470)


def forward_only() -> Report:
    return Report("main", "HEAD", (widened(), added()), 470)


def nothing() -> Report:
    return Report("main", "HEAD", (), 472)


def wicked(word: str = WICKED) -> Report:
    """Every text is made of what Markdown, HTML and workflow commands give a meaning to."""
    text = Marked(word, ((0, len(word) // 3),) if word else ())
    rule = Rule("X1", Verdict.breaking, "schema", word, word)
    place = Location("a,b:c%.yaml", 1, 2)
    allowance = Allowance(word, "X1", word, LATER, place)
    open_finding = Finding(rule, word, word, word, word, text, Marked(word + "!"), place)
    covered = Finding(rule, word, word, word, word, text, Marked(word + "!"), place, allowance)
    change = OpChange(word, word, text, Marked(word + "?"), (open_finding, covered))
    return Report(word, word, (change,), 0, (word,), (word,))


def large(ops: int, findings: int = 1, length: int = 10) -> Report:
    """Many ops with many findings of long texts, a third of them breaking."""
    rules = (RENAMED, WIDENED, ADDED)
    changes = tuple(_large_change(f"op{nth}", rules[nth * 3 // ops], findings, length) for nth in range(ops))
    return Report("main", "HEAD", changes, 0, ("n" * length,) * 9, ("e" * length,) * 9)


def _large_change(op: str, rule: Rule, findings: int, length: int) -> OpChange:
    old, new = Marked(f"{op}({'a' * length})", ((0, length),)), Marked(f"{op}({'🎉' * length})", ((0, length),))
    one = Finding(rule, op, "<|`@" * length, "x" * length, "y" * length, old, Marked("b"), at(1))
    return OpChange(op, "pointwise", old, new, (one,) * findings)
