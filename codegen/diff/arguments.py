"""What changed about the arguments of a schema, by PyTorch's rules and for Python callers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..emit.signatures import NUMPY_SPELLINGS
from ..model import Argument
from . import calls
from .alignment import Alignment, Pair, align
from .compat import default_value, is_out, is_subtype, list_size, plain
from .python_types import same_values, takes_as_much
from .report import Finding, Verdict
from .rules import RULES
from .subject import Subject


def argument_findings(subject: Subject) -> Iterator[Finding]:
    alignment = align(subject.old, subject.new)
    for at in alignment.removed:
        yield _removed(subject, alignment, subject.old.arguments[at], at)
    for at in alignment.added:
        yield from _added(subject, alignment, subject.new.arguments[at], at)
    yield from _reordered(subject, alignment)
    for pair in alignment.pairs:
        yield from _renamed(subject, pair)
        yield from _keyword_only(subject, pair)
        yield from _type(subject, pair)
        yield from _default(subject, pair)


# -------------------- removed and added --------------------


def _removed(subject: Subject, alignment: Alignment, argument: Argument, at: int) -> Finding:
    is_last = all(pair.old_at < at or is_out(pair.old) for pair in alignment.pairs)
    code = "S072" if is_out(argument) else "S010" if is_last else "S011"
    what = "out argument" if is_out(argument) else "argument"
    caller = f"{_quoted_old(subject, argument)} stops working"
    message = f"{what} `{argument.name}` is removed"
    return subject.changed(code, message, str(argument), None, subject.new.location, caller)


def _added(subject: Subject, alignment: Alignment, argument: Argument, at: int) -> Iterator[Finding]:
    if any(is_out(other) for other in subject.new.arguments[:at]) or is_out(argument):
        yield from _added_out(subject, alignment, argument, at)
    elif argument.default is None:
        caller = f"`{subject.call()}` stops working: `{argument.python_name}` is missing"
        yield _new(subject, "S014", f"required argument `{argument.name}` is added", argument, caller)
    elif not any(pair.new_at > at for pair in _inputs(alignment)):
        is_list = isinstance(default_value(argument.type, argument.default), list)
        yield _new(subject, "S013" if is_list else "S012", f"argument `{argument.name}` is appended", argument)
    else:
        yield from _inserted(subject, alignment, argument, at)


def _inserted(subject: Subject, alignment: Alignment, argument: Argument, at: int) -> Iterator[Finding]:
    behind = [pair for pair in _inputs(alignment) if pair.new_at > at]
    message = f"argument `{argument.name}` is inserted in front of `{behind[0].new.name}`"
    displaced = [pair.old for pair in behind if not pair.old.kwarg_only]
    caller = ""
    if displaced and not argument.kwarg_only:
        call = calls.positional_call(subject.caller_op, subject.old, displaced[0])
        caller = f"`{call}` now passes `{argument.python_name}` where it passed `{displaced[0].python_name}`"
    yield _new(subject, "S015", message, argument, caller)
    if not caller:
        yield subject.harmless("the arguments behind it are passed by name", argument.location)


def _added_out(subject: Subject, alignment: Alignment, argument: Argument, at: int) -> Iterator[Finding]:
    behind = [pair for pair in alignment.pairs if pair.new_at > at]
    what = "out argument" if is_out(argument) else "argument"
    if behind:
        message = f"{what} `{argument.name}` is added in front of `{behind[0].new.name}`"
        yield _new(subject, "S071", message, argument, _out_count(subject) if is_out(argument) else "")
        return
    remedy = "add an op with the new output" if is_out(argument) else ""
    yield _new(subject, "S070", f"{what} `{argument.name}` is added at the end", argument, remedy=remedy)
    if is_out(argument):
        message = f"`out=` takes {len(subject.new.out_arguments)} tensors, it took {len(subject.old.out_arguments)}"
        yield _new(subject, "P011", message, argument, _out_count(subject))


def _out_count(subject: Subject) -> str:
    return f"`{subject.call()}` stops working: `out` has too few tensors" if subject.old.out_arguments else ""


def _new(subject: Subject, code: str, message: str, argument: Argument, caller: str = "", remedy: str = "") -> Finding:
    return subject.changed(code, message, None, str(argument), argument.location, caller, remedy)


def _inputs(alignment: Alignment) -> list[Pair]:
    return [pair for pair in alignment.pairs if not is_out(pair.old)]


# -------------------- order, names and places --------------------


def _reordered(subject: Subject, alignment: Alignment) -> Iterator[Finding]:
    displaced = _out_of_place(alignment)
    if not displaced:
        return
    outs = all(is_out(pair.old) and is_out(pair.new) for pair in displaced)
    by_name = all(pair.old.kwarg_only and pair.new.kwarg_only for pair in displaced)
    code = "S073" if outs else "S017" if by_name else "S016"
    old, new = _names(displaced), _names(sorted(displaced, key=lambda pair: pair.new_at))
    caller = "" if by_name and not outs else _swapped(subject, displaced)
    location = displaced[0].new.location
    yield subject.changed(code, f"the arguments `{old}` are now in the order `{new}`", old, new, location, caller)
    if not caller:
        yield subject.harmless("keyword-only arguments are passed by name", location)


def _out_of_place(alignment: Alignment) -> list[Pair]:
    """The arguments that have moved or been overtaken."""
    order = sorted(alignment.pairs, key=lambda pair: pair.new_at)
    return [pair for pair, other in zip(alignment.pairs, order) if pair is not other]


def _names(pairs: Iterable[Pair]) -> str:
    return ", ".join(pair.old.name for pair in pairs)


def _swapped(subject: Subject, pairs: list[Pair]) -> str:
    """A call that passes what has moved by position."""
    by_position = [pair for pair in pairs if not pair.old.kwarg_only] or pairs
    first, last = by_position[0], by_position[-1]
    call = calls.positional_call(subject.caller_op, subject.old, last.old)
    now = subject.new.arguments[min(first.old_at, len(subject.new.arguments) - 1)]
    return f"`{call}` now passes `{now.python_name}` where it passed `{first.old.python_name}`"


def _renamed(subject: Subject, pair: Pair) -> Iterator[Finding]:
    if not pair.is_renamed:
        return
    is_visible = pair.old.python_name != pair.new.python_name and not is_out(pair.old)
    caller = f"{_quoted_old(subject, pair.old)} by keyword stops working{_alias_too(subject, pair.old)}"
    message = f"argument `{pair.old.name}` is now called `{pair.new.name}`"
    yield _pair_finding(subject, "S018", message, pair, caller if is_visible else "")
    if not is_visible:
        why = (
            "`out=` takes tensors without their names"
            if is_out(pair.old)
            else f"in Python it is called `{pair.new.python_name}`"
        )
        yield subject.harmless(why, pair.new.location)


def _alias_too(subject: Subject, argument: Argument) -> str:
    """NumPy's spelling goes with the name. A required argument has one if nothing else that is required follows."""
    positional = subject.old.positional
    following = positional[positional.index(argument) :] if argument in positional else ()
    has_alias = argument.default is not None or all(each.name in NUMPY_SPELLINGS for each in following)
    spelling = NUMPY_SPELLINGS.get(argument.name) if has_alias else None
    goes = spelling is not None and subject.new.argument(spelling) is None
    return f", and so does NumPy's spelling `{spelling}=`" if goes else ""


def _quoted_old(subject: Subject, argument: Argument) -> str:
    """A call in the old state that passes the argument by its name."""
    return f"`{calls.keyword_call(subject.caller_op, subject.old, argument)}`"


def _pair_finding(subject: Subject, code: str, message: str, pair: Pair, caller: str = "") -> Finding:
    return subject.changed(code, message, str(pair.old), str(pair.new), pair.new.location, caller)


def _keyword_only(subject: Subject, pair: Pair) -> Iterator[Finding]:
    if is_out(pair.old) and not is_out(pair.new):
        message = f"argument `{pair.new.name}` is no longer an out argument"
        yield _pair_finding(subject, "S072", message, pair, f"`{subject.call()}` stops working")
    elif pair.new.kwarg_only and not pair.old.kwarg_only:
        call = calls.positional_call(subject.caller_op, subject.old, pair.old)
        message, texts = f"argument `{pair.new.name}` becomes keyword-only", (str(pair.old), f"*, {pair.new}")
        yield subject.changed("S031", message, *texts, pair.new.location, f"`{call}` stops working")
    elif pair.old.kwarg_only and not pair.new.kwarg_only:
        message, texts = f"argument `{pair.new.name}` can be passed by position", (f"*, {pair.old}", str(pair.new))
        yield subject.changed("S030", message, *texts, pair.new.location)


# -------------------- types --------------------


def _type(subject: Subject, pair: Pair) -> Iterator[Finding]:
    if pair.old.type == pair.new.type:
        return
    codes = _type_codes(pair)
    caller = _type_caller(subject, pair)
    for code in codes:
        shown = caller if RULES[code].verdict is Verdict.breaking else ""
        yield _pair_finding(subject, code, _type_message(code, pair), pair, shown)
    yield from _python_type(subject, pair, codes, caller)


def _type_codes(pair: Pair) -> list[str]:
    """The rules that a change of type falls under; the size of a list is a matter of its own."""
    old, new = pair.old.type, pair.new.type
    sizes = ["S023"] if list_size(old) != list_size(new) else []
    if plain(old) == plain(new):
        return sizes or ["S024"]
    if is_subtype(old, new):
        return ["S020", *sizes]
    return ["S021", *sizes] if is_subtype(new, old) else ["S022"]


def _type_message(code: str, pair: Pair) -> str:
    name, old, new = pair.new.name, pair.old.type, pair.new.type
    verb = {
        "S020": "accepts more",
        "S021": "accepts less",
        "S022": "has another type",
        "S023": "has another list size",
        "S024": "is the same type to the schema check",
    }[code]
    return f"argument `{name}` {verb}: `{old}` is now `{new}`"


def _type_caller(subject: Subject, pair: Pair) -> str:
    """What stops working for Python callers; "" if nothing does."""
    if _takes_as_much(subject, pair):
        return ""
    if pair.old.type.is_optional and not pair.new.type.is_optional:
        return f"`None` can no longer be passed for `{pair.old.python_name}`"
    size = list_size(pair.new.type)
    if size and list_size(pair.old.type):
        return f"a single number for `{pair.old.python_name}` now stands for {size}"
    return f"{_quoted_old(subject, pair.old)} stops working"


def _takes_as_much(subject: Subject, pair: Pair) -> bool:
    numbers = subject.new_op is not None and pair.new.name in subject.new_op.numbers
    return takes_as_much(pair.new.type, pair.old.type, numbers)


def _python_type(subject: Subject, pair: Pair, codes: list[str], caller: str) -> Iterator[Finding]:
    """Where Python callers fare otherwise than the schema check says."""
    refused = any(RULES[code].verdict is Verdict.breaking for code in codes)
    if refused and not caller:
        yield subject.harmless(f"whatever was passed for `{pair.old.python_name}` still can be", pair.new.location)
    elif caller and not refused:
        message = f"`{pair.new.python_name}` takes {_noun(pair.new)} instead of {_noun(pair.old)}"
        yield _pair_finding(subject, "P010", message, pair, caller)


_NOUNS = {
    "ScalarType": "a dtype",
    "Layout": "a layout",
    "MemoryFormat": "a memory format",
    "Dimname": "a dimension name",
}


def _noun(argument: Argument) -> str:
    return _NOUNS.get(argument.type.base, f"`{argument.type.base}`")


# -------------------- defaults --------------------


def _default(subject: Subject, pair: Pair) -> Iterator[Finding]:
    old, new, name = pair.old.default, pair.new.default, pair.new.name
    if old is None and new is None:
        return
    if new is None:
        yield _pair_finding(
            subject, "S041", f"argument `{name}` is now required", pair, f"`{subject.call()}` stops working"
        )
    elif old is None:
        yield _pair_finding(subject, "S042", f"argument `{name}` has the default `{new}`", pair)
    elif default_value(pair.old.type, old) == default_value(pair.new.type, new):
        if old != new:
            yield _pair_finding(subject, "S043", f"the default of `{name}` is written `{new}`, it was `{old}`", pair)
    else:
        yield from _changed_default(subject, pair, old, new)


def _changed_default(subject: Subject, pair: Pair, old: str, new: str) -> Iterator[Finding]:
    name = pair.new.name
    if old != new or not same_values(pair.old.type, pair.new.type):
        caller = f"`{subject.call()}` now means `{pair.new.python_name}={new}`"
        yield _pair_finding(subject, "S040", f"the default of `{name}` is now `{new}`, it was `{old}`", pair, caller)
        return
    message = f"the default `{new}` of `{name}` is another value under `{pair.new.type}` than under `{pair.old.type}`"
    yield _pair_finding(subject, "S044", message, pair)
    yield subject.harmless("a call without it means the same as before", pair.new.location)
