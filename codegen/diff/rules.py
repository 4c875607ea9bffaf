"""The rules of the schema diff: every kind of change, how bad it is, and what to do instead.

docs/compatibility.md is printed from this table. A code keeps its meaning for ever; the letter is the subject:
S schema, P Python callers, D derivatives, M memory, V views and in-place writes, T dtypes, H shapes, B backends,
G tags, N nodes, F functions and classes written by hand, C their code, Q tests and docs,
R what a run of both states shows.
"""

from __future__ import annotations

from .report import Rule, Topic, Verdict

_TOPICS: dict[str, Topic] = {
    "S": "schema",
    "P": "python",
    "D": "gradient",
    "M": "memory",
    "V": "view",
    "T": "dtype",
    "H": "shape",
    "B": "backend",
    "G": "tag",
    "N": "node",
    "F": "function",
    "C": "code",
    "Q": "test",
    "R": "run",
}
_ONLY_FORWARD = "nothing, unless new programs have to run on the old version"
_BREAKING, _FORWARD, _UNPROVEN = Verdict.breaking, Verdict.forward_only, Verdict.unproven
_FINE, _TEXT = Verdict.compatible, Verdict.text


def _rule(code: str, verdict: Verdict, title: str, remedy: str = "") -> Rule:
    return Rule(code, verdict, _TOPICS[code[0]], title, remedy)


_SCHEMA = (
    _rule(
        "S001",
        _BREAKING,
        "an op is removed",
        "keep the op for a release or more, and announce its removal; if it is another op now, list the old call "
        "under `deprecated` of that op",
    ),
    _rule("S002", _FINE, "an op is added"),
    _rule("S003", _BREAKING, "an op is renamed", "list the old name under `deprecated`"),
    _rule("S004", _BREAKING, "an overload is renamed", "keep the overload's name: saved programs contain it"),
    _rule(
        "S010", _BREAKING, "the last argument is removed", "keep the argument, or list the old call under `deprecated`"
    ),
    _rule(
        "S011",
        _BREAKING,
        "an argument in front of others is removed",
        "keep it, or list the old call under `deprecated`",
    ),
    _rule("S012", _FINE, "an argument with a default is appended"),
    _rule(
        "S013", _FORWARD, "an argument with a list as default is appended", "make it optional, with the default None"
    ),
    _rule("S014", _BREAKING, "a required argument is added", "give it a default that does what the op did before"),
    _rule("S015", _BREAKING, "an argument is inserted in front of others", "append the argument at the end"),
    _rule("S016", _BREAKING, "positional arguments are reordered", "keep the order; append what is new at the end"),
    _rule("S017", _BREAKING, "keyword-only arguments are reordered", "keep the order: the check compares by position"),
    _rule("S018", _BREAKING, "an argument is renamed", "keep the name, or list the old call under `deprecated`"),
    _rule("S020", _FORWARD, "a type accepts more than before", _ONLY_FORWARD),
    _rule("S021", _BREAKING, "a type accepts less than before", "keep accepting what was accepted"),
    _rule("S022", _BREAKING, "a type is replaced by another", "add an overload with the new type and keep the old one"),
    _rule("S023", _BREAKING, "the size of a list changes", "keep the size: it decides what a single number means"),
    _rule("S024", _TEXT, "a type has another name for the same values"),
    _rule("S030", _FINE, "a keyword-only argument becomes positional"),
    _rule("S031", _BREAKING, "a positional argument becomes keyword-only", "keep it positional"),
    _rule("S040", _BREAKING, "a default changes", "keep the default; let callers who want the new value pass it"),
    _rule("S041", _BREAKING, "a default is dropped", "keep the default"),
    _rule("S042", _FORWARD, "a default is gained", _ONLY_FORWARD),
    _rule("S043", _TEXT, "a default is written differently"),
    _rule(
        "S044",
        _BREAKING,
        "a default is another value to the schema check only",
        "keep the type, or make the default None",
    ),
    _rule("S050", _BREAKING, "a result can be more than before", "keep the type of the result"),
    _rule("S051", _FINE, "a result is narrower than before"),
    _rule("S052", _BREAKING, "a result has another type", "add an overload, or a new op, with the new result"),
    _rule("S053", _BREAKING, "a result has another name", "keep the name of the result"),
    _rule("S054", _BREAKING, "the number of results changes", "add a new op with the new results"),
    _rule("S055", _TEXT, "the results are written differently"),
    _rule("S060", _BREAKING, "the alias annotation of an argument changes", "keep what the op shares and writes"),
    _rule("S061", _BREAKING, "the alias annotation of a result changes", "keep what the result shares memory with"),
    _rule("S062", _TEXT, "an alias annotation is written differently"),
    _rule("S070", _FORWARD, "an argument is added behind the out arguments", "put it in front of them, with a default"),
    _rule("S071", _BREAKING, "an out argument is added in front of another", "append it behind them"),
    _rule("S072", _BREAKING, "an out argument is removed", "keep the out argument"),
    _rule("S073", _BREAKING, "out arguments are reordered", "keep their order: it is the order of the results"),
    _rule("S090", _FINE, "a change that `versions` covers, and `deprecated` where callers see it"),
    _rule("S091", _BREAKING, "an old version is no longer known", "keep it in `versions`: saved programs mean it"),
    _rule("S092", _UNPROVEN, "the upgrade of an old version changes: saved programs may compute something else"),
)
_PYTHON = (
    _rule("P001", _FINE, "the schema check refuses what Python callers do not see"),
    _rule("P010", _BREAKING, "another kind of value has to be passed", "keep the type, or add an overload"),
    _rule("P011", _BREAKING, "the number of tensors that out= takes changes", "keep the number of out arguments"),
    _rule("P012", _BREAKING, "an argument has another name in Python", "keep the name in `python_names`"),
    _rule("P020", _BREAKING, "the function is gone", "keep `function` in `variants`"),
    _rule("P021", _FINE, "a function is added"),
    _rule("P022", _BREAKING, "the method is gone", "keep `method` in `variants`"),
    _rule("P023", _FINE, "a method is added"),
    _rule("P024", _BREAKING, "the function moves to another module", "keep a deprecated function in the old place"),
    _rule("P025", _BREAKING, "the op no longer has a Python signature", "remove the key `python`"),
    _rule("P026", _FINE, "the op now has a Python signature"),
    _rule("P027", _FINE, "whether PyTorch's Python functions have the overload changes: errors name other overloads"),
    _rule("P030", _BREAKING, "a Python operator is gone", "keep it in `operators`"),
    _rule("P031", _FINE, "a Python operator is added"),
    _rule("P040", _BREAKING, "a tensor argument no longer takes a number", "keep it in `numbers`"),
    _rule("P041", _FINE, "a tensor argument now takes a number"),
    _rule("P050", _BREAKING, "the function no longer takes requires_grad", "keep `factory: true`"),
    _rule("P051", _FINE, "the function now takes requires_grad"),
    _rule("P060", _FINE, "a call is deprecated: it works, with a warning"),
    _rule("P061", _BREAKING, "a deprecated call is no longer taken", "keep it until the release announced for that"),
    _rule("P062", _UNPROVEN, "the replacement of a deprecated call changes: it may compute something else"),
    _rule("P063", _TEXT, "the releases of a deprecation change"),
)
_GRADIENT = (
    _rule("D001", _FINE, "an op becomes differentiable"),
    _rule("D002", _BREAKING, "an op is no longer differentiable", "keep the entry in derivatives.yaml"),
    _rule("D010", _FINE, "an argument becomes differentiable"),
    _rule("D011", _BREAKING, "an argument is no longer differentiable", "keep the formula"),
    _rule("D012", _UNPROVEN, "a backward formula changes: gradients may differ"),
    _rule("D013", _TEXT, "a formula is written differently"),
    _rule("D014", _BREAKING, "asking for a gradient that was none raises an error", "write non_differentiable"),
    _rule("D015", _FINE, "an argument that raised an error now just has no gradient"),
    _rule("D016", _BREAKING, "complex tensors no longer have a gradient", "remove `complex: refused`"),
    _rule("D017", _FINE, "complex tensors now have a gradient"),
    _rule("D020", _FINE, "a forward-mode formula is added"),
    _rule("D021", _BREAKING, "a forward-mode formula is removed", "keep the formula"),
    _rule("D022", _UNPROVEN, "a forward-mode formula changes: tangents may differ"),
    _rule("D030", _FINE, "an output becomes differentiable"),
    _rule("D031", _BREAKING, "an output is no longer differentiable", "keep it in output_differentiability"),
    _rule("D040", _BREAKING, "a graph is recorded only under a condition", "remove `when`"),
    _rule("D041", _FINE, "a graph is recorded without a condition"),
    _rule("D042", _UNPROVEN, "the condition under which a graph is recorded changes"),
    _rule("D050", _UNPROVEN, "the code that formulas use changes: gradients may differ"),
)
_MEMORY = (
    _rule(
        "M001",
        _BREAKING,
        "a tensor is now kept until backward: a write to it before that raises an error",
        "use the result, or `.shape` and the like",
    ),
    _rule("M002", _FINE, "a tensor is no longer kept until backward"),
    _rule("M003", _FINE, "a small value is now kept until backward"),
    _rule("M004", _FINE, "a small value is no longer kept until backward"),
    _rule("M005", _FINE, "what is kept is needed by other gradients than before"),
)
_VIEW = (
    _rule("V001", _BREAKING, "the result becomes a view of an input", "return a copy, or add an op for the view"),
    _rule("V002", _BREAKING, "the result is no longer a view of an input", "keep the view, or add an op for the copy"),
    _rule("V003", _BREAKING, "the result is another kind of view", "keep the kind of view"),
    _rule("V010", _BREAKING, "an argument is now written to", "add an in-place op, and keep this one free of writes"),
    _rule("V011", _BREAKING, "an argument is no longer written to", "keep the write, or add a new op without it"),
)
_DTYPE = (
    _rule("T001", _BREAKING, "the promotion rule changes: results may have another dtype", "keep the rule"),
    _rule("T002", _FINE, "a promotion rule is stated"),
    _rule("T003", _FINE, "a promotion rule is no longer stated"),
    _rule("T010", _BREAKING, "fewer dtypes are supported", "keep computing on them"),
    _rule("T011", _FINE, "more dtypes are supported"),
)
_SHAPE = (
    _rule("H001", _BREAKING, "the shape rule changes: results may have another shape", "keep the rule"),
    _rule("H002", _FINE, "a shape rule is stated"),
    _rule("H003", _FINE, "a shape rule is no longer stated"),
    _rule("H004", _UNPROVEN, "the code of a shape rule changes: shapes may differ"),
)
_BACKEND = (
    _rule("B001", _BREAKING, "a backend loses its kernel", "keep the kernel and its word in `dispatch`"),
    _rule("B002", _FINE, "a backend gains a kernel"),
    _rule("B003", _UNPROVEN, "a backend uses another kernel"),
    _rule("B004", _TEXT, "a kernel is planned that is not written"),
    _rule("B005", _TEXT, "a kernel that was not written is no longer planned"),
    _rule("B010", _BREAKING, "a composite op gets kernels of its own", "keep it composite: it runs everywhere"),
    _rule("B011", _FINE, "an op with kernels becomes composite"),
    _rule("B012", _UNPROVEN, "another function is the composite op"),
    _rule("B013", _UNPROVEN, "the rule for tensors inside vmap changes"),
    _rule("B015", _UNPROVEN, "a decomposition changes: values, gradients and the memory of graphs may differ"),
    _rule("B016", _TEXT, "a decomposition is written differently"),
    _rule("B014", _UNPROVEN, "the precision that autocast gives the op changes: results may differ"),
    _rule("B020", _TEXT, "the ACLNN call changes"),
    _rule("B022", _TEXT, "the reason for a schema of our own changes"),
    _rule("B023", _TEXT, "what the kernel changes besides, as backends are told, changes"),
    _rule("B024", _TEXT, "which arguments may be on another device changes"),
    _rule("B025", _TEXT, "what compiled loops compute changes"),
    _rule("B026", _UNPROVEN, "whether results may have their input's memory changes"),
    _rule("B030", _UNPROVEN, "the code of a kernel changes: results may differ"),
    _rule("B031", _UNPROVEN, "the code of a composite op changes: results may differ"),
)
_TAG = (
    _rule("G001", _BREAKING, "the tag `core` is lost", "keep the tag: exporters and backends rely on the core ops"),
    _rule("G002", _FINE, "the tag `core` is gained"),
    _rule("G003", _FINE, "a tag is lost"),
    _rule("G004", _FINE, "a tag is gained"),
)
_NODE = (_rule("N001", _BREAKING, "the node class has another name", "state the old name: `node: <old name>`"),)

_FUNCTION = (
    _rule("F001", _BREAKING, "a function, class or method is gone", "keep it, deprecated, for a release or more"),
    _rule("F002", _FINE, "a function, class or method is added"),
    _rule("F003", _BREAKING, "an argument of a function is renamed", "keep the name, or take both for a release"),
    _rule("F004", _BREAKING, "an argument of a function is removed", "keep the argument, or ignore it with a warning"),
    _rule("F005", _BREAKING, "the arguments of a function are reordered", "keep the order; append what is new"),
    _rule("F006", _BREAKING, "a required argument of a function is added", "give it a default that does as before"),
    _rule("F007", _BREAKING, "an argument of a function is inserted in front of others", "append it at the end"),
    _rule("F008", _FINE, "a function takes more arguments than before"),
    _rule("F009", _BREAKING, "a default of a function changes", "keep the default; let callers pass the new value"),
    _rule("F010", _BREAKING, "a default of a function is dropped", "keep the default"),
    _rule("F011", _FORWARD, "a default of a function is gained", _ONLY_FORWARD),
    _rule("F012", _BREAKING, "an argument can be passed in fewer ways", "keep it as it was"),
    _rule("F013", _FINE, "an argument can be passed in more ways"),
    _rule("F014", _BREAKING, "a function no longer takes any argument", "keep `*args` or `**kwargs`"),
    _rule("F015", _FINE, "an argument has another name that callers cannot use"),
    _rule("F016", _BREAKING, "a function, class or property becomes another kind of thing", "keep what it was"),
    _rule("F020", _BREAKING, "a file is no Python", "mend the file"),
)
_CODE = (
    _rule("C001", _UNPROVEN, "the code of functions changes: what they do may differ"),
    _rule("C002", _UNPROVEN, "the code of promotion changes: results may have another dtype"),
    _rule("C003", _UNPROVEN, "the code of autocast changes: results may have another dtype, or raise an error"),
    _rule("C004", _UNPROVEN, "the code of rules for vmap changes: results inside vmap may differ"),
    _rule("C005", _UNPROVEN, "the code of the autograd engine changes: gradients may differ"),
    _rule("C006", _UNPROVEN, "the code of the core or the dispatcher changes, which every op runs"),
    _rule("C007", _UNPROVEN, "the generator changes: the code of every op may differ"),
)
_TEST = (
    _rule("Q001", _UNPROVEN, "the tests of an op are switched off", "keep `samples`: without them nothing runs the op"),
    _rule("Q002", _UNPROVEN, "tests are gone", "keep them, or say in the pull request what covers the same"),
    _rule("Q003", _UNPROVEN, "tests are skipped, or expected to fail", "mend what they find"),
    _rule("Q004", _FINE, "documentation is gone", "keep the docstring or the page"),
    _rule("Q005", _FINE, "the samples of an op change: tests may see less"),
)
_RUN = (
    _rule("R001", _BREAKING, "a call raises an error that did not", "mend the code that the report names"),
    _rule("R002", _FINE, "a call no longer raises an error"),
    _rule("R003", _FINE, "a call raises another error"),
    _rule("R010", _BREAKING, "values differ", "compute what was computed, or announce the change"),
    _rule("R011", _BREAKING, "results have another dtype", "keep the dtype"),
    _rule("R012", _BREAKING, "results have another shape", "keep the shape"),
    _rule("R013", _BREAKING, "results have other strides", "keep the strides: callers take views by them"),
    _rule("R014", _BREAKING, "results share memory with other tensors", "keep what is a view, and what is a copy"),
    _rule("R020", _BREAKING, "gradients differ", "keep the gradient, or say which of both is right"),
    _rule("R021", _BREAKING, "a gradient is gone, or raises an error", "keep the gradient"),
    _rule("R022", _FINE, "gradients have other strides"),
    _rule("R023", _FINE, "a wrong gradient is mended"),
    _rule("R030", _FINE, "a call keeps more memory until backward", "save the result, or less of the inputs"),
    _rule("R031", _FINE, "a call keeps less memory until backward"),
    _rule("R040", _FINE, "a call is slower", "measure what takes the time: `make bench-ops`"),
    _rule("R041", _FINE, "a call is faster"),
    _rule("R042", _FINE, "a call takes more memory at its peak", "compute in place, or in blocks"),
    _rule("R043", _FINE, "a call takes less memory at its peak"),
    _rule("R050", _BREAKING, "a state cannot be run", "mend what the message names"),
)

SECTIONS: dict[str, tuple[Rule, ...]] = {
    "Schemas": _SCHEMA,
    "Python callers": _PYTHON,
    "Derivatives": _GRADIENT,
    "Memory": _MEMORY,
    "Views and in-place": _VIEW,
    "Dtypes": _DTYPE,
    "Shapes": _SHAPE,
    "Backends": _BACKEND,
    "Tags": _TAG,
    "Nodes": _NODE,
    "Functions and classes written by hand": _FUNCTION,
    "Code": _CODE,
    "Tests and documentation": _TEST,
    "What a run shows": _RUN,
}
RULES: dict[str, Rule] = {rule.code: rule for rules in SECTIONS.values() for rule in rules}
