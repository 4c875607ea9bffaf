"""The statements of whole programs that have a body: blocks in modes, transforms, checkpoints, threads."""

import torch

from tests.parity.random_programs.blocks import OPEN_VIEWS, Function, block, copied, function, place_of, sample_of
from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.layers import several_views
from tests.parity.random_programs.runs import WRITES, Env, run
from tests.parity.random_programs.statements import (
    along_a_dimension,
    augmented,
    binary,
    binary_in_place,
    binary_with_alpha,
    convert,
    index_read,
    index_write,
    join,
    like,
    operator,
    other_in_place,
    out_variant,
    product,
    reduction,
    unary,
    unary_in_place,
    view,
)
from tests.parity.random_programs.writer import Maker, Writer, make, statement

WHOLE: list[Maker] = []  # statements of whole programs besides the plain ones
BODY: list[Maker] = []  # what bodies of functions consist of
DEEPEST = 2

for _maker, _weight in {
    unary: 6,
    binary: 5,
    operator: 5,
    binary_with_alpha: 3,
    unary_in_place: 4,
    binary_in_place: 5,
    augmented: 2,
    other_in_place: 2,
    reduction: 3,
    along_a_dimension: 3,
    view: 12,
    several_views: 3,
    index_read: 4,
    index_write: 5,
    join: 2,
    product: 3,
    convert: 1,
    like: 1,
    out_variant: 2,
}.items():
    BODY.extend([_maker] * _weight)


MODES = (
    "T.no_grad()",
    "T.no_grad()",
    "T.enable_grad()",
    "T.inference_mode()",
    "T.inference_mode(False)",
    "T.set_grad_enabled(False)",
    "T.autograd.graph.saved_tensors_hooks(lambda t: note('pack', t), lambda t: note('unpack', t))",
    "T.autograd.graph.saved_tensors_hooks(lambda t: (t.detach().clone(), 1), lambda p: p[0])",
    "T.autograd.graph.save_on_cpu()",
    "T.autograd.graph.disable_saved_tensors_hooks('none here')",
    "T.autograd.graph.allow_mutation_on_saved_tensors()",
)

# What does not stand in some modes: a torch dispatch mode has torch forget how views of inference mode came to be, and
# ask for versions that there are not; hooks see the parts that torch makes isfinite of, which nothing differentiates,
# and those of batching rules, of tangents and of recorded backward passes. A batching rule makes tensors of numbers.
_OF_PARTS = ("isfinite", "T.vmap", "is_grads_batched", "jvp", "jacfwd", "hessian", "fwAD", "create_graph=True")
_NOT_FOR_MUTATION = ("inference_mode", "T.vmap")
APART = (
    *(("allow_mutation", part) for part in _NOT_FOR_MUTATION),
    *(("hooks(lambda t: note", part) for part in _OF_PARTS),
)


def _length(w: Writer) -> int:
    return w.random.randint(1, 5 if w.depth == 0 else 3)


def _variable(w: Writer) -> str | None:
    """A small tensor that functions can be differentiated at."""
    name = w.name(lambda each: is_differentiable(each) and 0 < each.numel() <= 12 and each.element_size() > 2)
    each = w.env[name] if name else None
    return name if name and is_differentiable(each) and 0 < each.numel() <= 24 else None


def _number_of(f: Function, call: str) -> str:
    if f.result.is_complex():
        return f"T.view_as_real({call}.resolve_conj()).sum()"
    return f"{call}.{'sum()' if f.result.is_floating_point() else 'double().sum()'}"


@statement(8, WHOLE)
def in_a_mode(w: Writer) -> str | None:
    mode = w.pick(MODES)
    # Transforms end inference mode in mindtorch, so that what they give is not of that mode.
    makers = BODY if w.depth >= DEEPEST or mode == "T.inference_mode()" else BODY + WHOLE
    text = block(w, f"with {mode}:", makers, _length(w))
    return None if text and any(mode_part in mode and part in text for mode_part, part in APART) else text


@statement(2, BODY)
def in_a_mode_of_body(w: Writer) -> str | None:
    return in_a_mode(w) if w.depth < DEEPEST else None


def _made(
    w: Writer, *given: tuple[str, int | None] | str, captures: bool = True, is_transformed: bool = False
) -> Function | None:
    """A function of tensors of the program, or of their samples along a dimension."""
    pairs = [each if isinstance(each, tuple) else (each, None) for each in given]
    if w.depth >= DEEPEST or not all(name for name, _ in pairs):
        return None
    samples = [sample_of(w.env[name], dim) for name, dim in pairs]
    names = [name for name, _ in pairs]
    f = function(w, samples, BODY, _length(w), names if captures else None, is_transformed)
    are_apart = len({place_of(w.env[name]) for name in names}) == len(names)
    # What is written may not be read in the same op: the order of the two is not defined.
    return f if f is None or are_apart or not WRITES.search(f.text) else None


def _differs_by_sample(w: Writer, f: Function, call: str) -> bool:
    env = Env(torch, make)
    env.update(copied(w.env.tensors()))
    return (
        not run(f"{f.text}\ntried = {call}", env)
        and "tried" in env
        and env["tried"].stride(0) > 0
        and len(env["tried"]) > 1
    )


def _writes_what_is_shared(w: Writer, f: Function, names: list[str]) -> bool:
    """Whether a function may write to samples that share memory, which torch does for some ops, once for each."""
    return bool(WRITES.search(f.text)) and any(0 in w.env[name].stride() for name in names)


def _writes_inference_tensor(w: Writer, f: Function, name: str) -> bool:
    """Whether a function may write an inference tensor: torch refuses that when it has written, or the next time."""
    return bool(WRITES.search(f.text)) and w.env[name].is_inference()


@statement(6, WHOLE)
def mapped(w: Writer) -> str | None:
    name = w.name(lambda each: 0 < each.ndim and 0 < each.numel() <= 24)
    if name is None or not w.env[name].ndim or not w.env[name].numel():
        return None
    dim = w.random.randint(-w.env[name].ndim, w.env[name].ndim - 1)
    size = w.env[name].shape[dim]
    other = w.name(lambda each: each.ndim and each.shape[0] == size)
    dims, given, parts = f"{dim}", name, [(name, dim)]
    if w.chance(0.6):
        other_dim = 0 if w.env[other].ndim and w.env[other].shape[0] and w.chance(0.7) else None
        dims, given = f"({dim}, {other_dim})", f"{name}, {other}"
        parts.append((other, other_dim))
    f = _made(w, *parts, is_transformed=True)
    if f is None or _writes_what_is_shared(w, f, given.split(", ")):
        return None
    # Where the samples do not differ, torch looks for the place of the new dimension in memory that is not the shape's.
    call = f"T.vmap({f.name}, in_dims={dims})({given})"
    out = w.pick([0, 0, 0, -1, f.result.ndim]) if _differs_by_sample(w, f, call) else 0
    options = w.pick(["", "", "", f", chunk_size={w.random.randint(1, 2)}"])
    return f"{f.text}\n{w.new()} = T.vmap({f.name}, in_dims={dims}, out_dims={out}{options})({given})"


@statement(8, WHOLE)
def transformed(w: Writer) -> str | None:
    name = _variable(w)
    f = _made(w, name, is_transformed=True)
    if f is None or not f.result.numel():  # of which torch's Jacobians are errors
        return None
    if _writes_inference_tensor(w, f, name):
        return None
    number = f"(lambda a: {_number_of(f, f'{f.name}(a)')})"
    tangent = w.pick([f"T.ones_like({name})", f"{name}.detach().clone()", f"{name} * 2"])
    calls = [
        f"{w.new()} = T.func.grad({number})({name})",
        f"{w.new()}, {w.new()} = T.func.grad_and_value({number})({name})",
        f"{w.new()}, {w.new()} = T.func.jvp({f.name}, ({name},), ({tangent},))",
        f"{w.new()}, {w.new()} = T.func.jvp(T.func.grad({number}), ({name},), ({tangent},))",
        f"{(y := w.new())}, v = T.func.vjp({f.name}, {name})\n{w.new()} = v(T.ones_like({y}))[0]",
        f"{w.new()} = T.func.jacrev({f.name})({name})",
        f"{w.new()} = T.func.jacfwd({f.name})({name})",
        f"{w.new()} = T.func.hessian({number})({name})",
        f"{w.new()} = T.func.grad(lambda a: T.func.grad({number})(a).square().sum())({name})",
        f"{w.new()} = T.autograd.functional.jacobian({f.name}, {name}, create_graph={w.chance(0.5)})",
        f"{w.new()} = T.autograd.functional.hessian({number}, {name}, strict={w.chance(0.3)})",
        f"{w.new()}, {w.new()} = T.autograd.functional.vjp({f.name}, {name}, T.ones_like({f.name}({name})))",
        f"{w.new()}, {w.new()} = T.autograd.functional.jvp({f.name}, {name}, {tangent})",
        f"{w.new()}, {w.new()} = T.autograd.functional.hvp({number}, {name}, {tangent})",
    ]
    return f"{f.text}\n{w.pick(list(filter(f.suits, calls)))}"


@statement(4, WHOLE)
def mapped_transform(w: Writer) -> str | None:
    name = _variable(w)
    if name is None or not w.env[name].ndim or w.env[name].requires_grad and w.chance(0.5):
        return None
    f = _made(w, (name, 0), is_transformed=True)
    if (
        f is None
        or not f.result.numel()
        or _writes_what_is_shared(w, f, [name])
        or _writes_inference_tensor(w, f, name)
    ):
        return None
    number = f"(lambda a: {_number_of(f, f'{f.name}(a)')})"
    calls = [
        f"T.vmap(T.func.grad({number}))({name})",
        f"T.vmap(T.func.jacrev({f.name}))({name})",
        f"T.vmap(T.func.jacfwd({f.name}))({name})",
        f"T.vmap(lambda a: T.func.jvp({f.name}, (a,), (a * 2,))[1])({name})",
        f"T.vmap(lambda a: T.func.vjp({f.name}, a)[1](T.ones_like({f.name}(a)))[0])({name})",
        f"T.func.grad(lambda a: T.vmap({number})(a).sum())({name})",
        f"T.func.jvp(T.vmap({f.name}), ({name},), (T.ones_like({name}),))[1]",
        f"T.autograd.grad(T.vmap({number})({name}).sum(), {name}, create_graph=True, allow_unused=True)[0]",
    ]
    calls = list(filter(f.suits, calls))
    return f"{f.text}\n{w.new()} = {w.pick(calls)}" if calls else None


@statement(4, WHOLE)
def in_forward_mode(w: Writer) -> str | None:
    name = _variable(w)
    # Of inference tensors torch forgets the tangents.
    f = None if name and w.env[name].is_inference() else _made(w, name, is_transformed=True)
    if f is None or not f.suits("T.func.jvp"):
        return None
    given = w.pick([name, f"{name}.detach()", f"{name}.detach().clone()"])
    return "\n".join(
        [
            f.text,
            "with fwAD.dual_level():",
            f"    d = fwAD.make_dual({given}, T.ones_like({name}))",
            f"    p, q = fwAD.unpack_dual({f.name}(d))",
            f"    {w.new()}, {w.new()} = p, None if q is None else q.clone()",
        ]
    )


@statement(5, WHOLE)
@statement(1, BODY)
def checkpointed(w: Writer) -> str | None:
    name = _variable(w)
    f = _made(w, name)
    if f is None:
        return None
    reentrant = w.pick(["False", "False", "False, early_stop=False", "True", "False, preserve_rng_state=False"])
    if f.captures and reentrant == "True":
        return None  # it may come to depend on the result, whose backward pass then runs itself, in torch too
    if "backward(" in f.text and WRITES.search(f.text):
        return None  # so does a pass through what it has written, which runs the function again
    return f"{f.text}\n{w.new()} = T.utils.checkpoint.checkpoint({f.name}, {name}, use_reentrant={reentrant})"


@statement(3, WHOLE)
@statement(1, BODY)
def called(w: Writer) -> str | None:
    name = _variable(w)
    f = _made(w, name)
    return f and f"{f.text}\n{w.new()} = {w.pick(['', 'T.no_grad()', 'T.enable_grad()'])}({f.name})({name})"


@statement(4, WHOLE)
def threaded(w: Writer) -> str | None:
    """Two functions, each in a thread of its own, one after the other."""
    names = [_variable(w), _variable(w)]
    fs = [_made(w, name) for name in names]
    if None in fs:
        return None
    calls = [f"lambda: {_wrapped(w, f, name)}" for f, name in zip(fs, names)]
    texts = "\n".join(f.text for f in fs)
    return f"{texts}\n{w.new()}, {w.new()} = in_threads({', '.join(calls)})"


def _wrapped(w: Writer, f: Function, name: str) -> str:
    call = f"{f.name}({name})"
    number = _number_of(f, f"{f.name}(a)")
    # A function with an open view may write through it what it has captured: see `view_of_a_captured_tensor`.
    transformed = call if OPEN_VIEWS.search(f.text) else f"T.func.grad(lambda a: {number})({name})"
    return w.pick([call, f"({_number_of(f, call)}).backward()", transformed, f"note('t', {call})"])
