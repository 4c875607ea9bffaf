"""The statements of whole programs about graphs: hooks, gradients, custom functions, modules, copies."""

from typing import Any

from tests.parity.random_programs.blocks import Function, indented
from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.runs import is_leaf, observed
from tests.parity.random_programs.whole import BODY, WHOLE, _made, _number_of, _variable
from tests.parity.random_programs.writer import Writer, statement


def _non_leaf(w: Writer) -> str:
    return w.name(lambda each: observed(is_leaf, each) is False and is_differentiable(each))


def _leaf(w: Writer) -> str:
    return w.name(lambda each: each.requires_grad and observed(is_leaf, each) is True)


def _with_grad(w: Writer) -> str:
    return w.name(lambda each: each.requires_grad)


@statement(9, WHOLE)  # not of bodies: a hook of a view from another mode ends torch's process
def hook(w: Writer) -> str:
    name, leaf, h = _with_grad(w), _leaf(w), f"h{w.number()}"
    lines = [
        f"{name}.register_hook(lambda g: note('{h}', g))",
        f"{name}.register_hook(lambda g: note('{h}', g) * 2)",
        f"{name}.register_hook(lambda g: note('{h}', g).mul_(2))",
        f"{name}.register_hook(lambda g: note('{h}', g)[..., None])",
        f"{name}.register_hook(lambda g: {leaf}.detach().clone())",
        f"{h} = {name}.register_hook(lambda g: note('{h}', g) + 1)\n{h}.remove()",
        f"{leaf}.register_post_accumulate_grad_hook(lambda p: note('{h}', p.grad) and None)",
        f"{leaf}.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))",
        f"{leaf}.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2) and None)",
        f"{name}.retain_grad()",
        f"{name}.retain_grad()",
        f"{name}.grad_fn.register_hook(lambda i, o: note('{h}', *i, *o) and None)",
        f"{name}.grad_fn.register_hook(lambda i, o: tuple(g if g is None else g * 2 for g in i))",
        f"{name}.grad_fn.register_prehook(lambda o: note('{h}', *o) and None)",
        f"{name}.grad_fn.register_prehook(lambda o: tuple(g if g is None else g * 3 for g in o))",
        f"T.autograd.graph.register_multi_grad_hook(({name}, {leaf}), lambda g: note('{h}', *g) and None)",
        f"T.autograd.graph.register_multi_grad_hook(({name}, {leaf}), lambda g: note('{h}', g) and None, mode='any')",
        f"{name}.register_hook(lambda g: note('{h}', g).requires_grad_() and None)",
    ]
    # A hook of a view that has not seen that its base was written ends torch's process; copies in a body are no views.
    asked = [f"{each}.grad_fn\n" for each in dict.fromkeys((name, leaf)) if w.depth or w.env[each]._is_view()]
    line = w.pick(lines)
    # What the ops are that a batching rule is made of tells the shapes of the gradients that a node sends on.
    return "".join(asked) + (line.replace("*i, *o", "*o") if name in w.root.mapped else line)


@statement(2, BODY)
def hook_in_a_body(w: Writer) -> str:
    """On a result of its own: it is no view, and inside of `vmap` alone it does not require grad."""
    name, made, h = w.name(is_differentiable), w.fresh(), f"h{w.number()}"
    hooks = [
        f"{made}.register_hook(lambda g: (note('{h}', g), None)[1])",
        f"{made}.register_hook(lambda g: g * 2)",
        f"{made}.grad_fn.register_hook(lambda i, o: (note('{h}', *o), None)[1])",
        f"{made}.grad_fn.register_hook(lambda i, o: tuple(g if g is None else g * 2 for g in i))",
        f"{made}.grad_fn.register_prehook(lambda o: (note('{h}', *o), None)[1])",
        f"{made}.grad_fn.register_prehook(lambda o: tuple(g if g is None else g * 3 for g in o))",
    ]
    return f"{made} = {name} {w.pick('+*')} {name}\nif {made}.requires_grad: {w.pick(hooks)}"


@statement(1, BODY)
def note_in_a_body(w: Writer) -> str:
    name, h = w.name(is_differentiable), f"h{w.number()}"
    return f"note('{h}', {name})"


def _loss(w: Writer, name: str) -> str:
    each = w.env[name]
    return w.pick([f"{name}.sum()", f"({name} * {name}).sum()"]) if not each.is_complex() else f"{name}.abs().sum()"


@statement(9, WHOLE)
@statement(1, BODY)
def gradient(w: Writer) -> str:
    name, other, leaf, middle = _non_leaf(w), _non_leaf(w), _leaf(w), _with_grad(w)
    loss, further = _loss(w, name), _loss(w, other)
    flags = w.pick(["", "", "retain_graph=True", "retain_graph=True", "create_graph=True"])
    more = f", {flags}" if flags else ""
    lines = [
        f"{loss}.backward({flags})",
        f"{loss}.backward({flags})",
        f"{loss}.backward(retain_graph=True)",
        f"{name}.backward({name}.detach().clone(){more})",
        f"{name}.backward({name}.clone(){more})",
        f"{name}.backward()",
        f"{name}.backward({leaf}.clone())",
        f"{loss}.backward(inputs=[{leaf}, {middle}]{more})",
        f"T.autograd.backward([{loss}, {further}]{more})",
        f"T.autograd.backward([{name}, {other}], [T.ones_like({name}), {other}.detach().clone()]{more})",
        f"{w.new()}, {w.new()} = T.autograd.grad({loss}, [{leaf}, {middle}], allow_unused=True{more})",
        f"{w.new()}, {w.new()} = T.autograd.grad([{loss}, {further}], [{leaf}, {middle}], allow_unused=True{more})",
        f"{w.new()} = T.autograd.grad({loss}, {middle}{more})[0]",
        f"{w.new()} = T.autograd.grad({loss}, {leaf}, materialize_grads=True{more})[0]",
        f"{w.new()} = T.autograd.grad({name}, {leaf}, T.stack([{name}.detach(), T.ones_like({name})]), "
        f"is_grads_batched=True, allow_unused=True{more})[0]",
        f"{w.new()} = T.autograd.grad({name}, {leaf}, {name}.clone(){more})[0]",
        f"{w.new()} = T.autograd.grad(T.autograd.grad({loss}, {middle}, create_graph=True)[0].sum(), {leaf}, "
        f"allow_unused=True{more})[0]",
    ]
    return w.pick(lines)


# -------------------- custom functions --------------------


@statement(8, WHOLE)
@statement(1, BODY)
def custom_function(w: Writer) -> str | None:
    names = list(dict.fromkeys(name for name in (_variable(w), w.pick([None, _variable(w)])) if name))
    f = _made(w, *names, captures=False) if names else None
    if f is None:
        return None
    call = f"F{f.name}.apply({', '.join(names)})"
    text = _class_of(w, f, names)
    return f"{text}\n{w.new()} = {w.pick([call, call, call, _around(w, f, text, names)])}"


def _around(w: Writer, f: Function, text: str, names: list[str]) -> str:
    """The function within a transform or a checkpoint."""
    rest = "".join(f", {name}" for name in names[1:])
    inner = f"F{f.name}.apply(a{rest})"
    if w.env[names[0]].requires_grad and w.chance(0.5):
        return f"T.utils.checkpoint.checkpoint(lambda a: {inner}, {names[0]}, use_reentrant=False)"
    calls = [
        f"T.func.grad(lambda a: {_number_of(f, inner)})({names[0]})",
        f"T.func.jvp(lambda a: {inner}, ({names[0]},), (T.ones_like({names[0]}),))[1]",
        f"T.func.vjp(lambda a: {inner}, {names[0]})[0]",
        f"T.vmap(lambda a: {inner})(T.stack([{names[0]}, {names[0]}]))",
        f"T.vmap(T.func.grad(lambda a: {_number_of(f, inner)}))(T.stack([{names[0]}, {names[0]}]))",
        f"T.func.jacrev(lambda a: {inner})({names[0]})",
    ]
    return w.pick([call for call in calls if f.suits(call, text)] or [f"F{f.name}.apply({', '.join(names)})"])


def _class_of(w: Writer, f: Function, names: list[str]) -> str:
    """A class whose `forward` is a function that the program has, and whose `backward` is some formula."""
    given = [f"a{place}" for place in range(len(names))]
    arguments = ", ".join(given)
    if w.chance(0.5):
        forward = [f"def forward({arguments}):", f"    return {f.name}({arguments})", "@staticmethod"]
        forward += ["def setup_context(ctx, inputs, output):", f"    {arguments}, = inputs"]
    else:
        forward = [f"def forward(ctx, {arguments}):", f"    output = {f.name}({arguments})"]
    forward += [f"    {line}" for line in _settings(w, arguments, given)]
    forward += [] if forward[0].startswith("def forward(a") else ["    return output"]
    backward = ["def backward(ctx, grad):", f"    {arguments}, = ctx.saved_tensors"]
    backward += w.pick([[], ["    note('needs', *ctx.needs_input_grad, grad)"]])
    backward += [f"    return {', '.join(_formula(w, each, f) for each in given)}"]
    has_rule = w.chance(0.7) and not any("mark_non" in line for line in forward)  # torch forgets the mark inside vmap
    lines = ["generate_vmap_rule = True"] if has_rule else []
    lines += ["@staticmethod", *forward, "@staticmethod", *backward]
    if w.chance(0.6):
        shape = tuple(f.result.shape)
        lines += ["@staticmethod", "def jvp(ctx, *tangents):"]
        lines += [
            f"    return {w.pick(['tangents[0].sum()', 'sum(t.sum() for t in tangents if t is not None)'])} "
            f"* T.ones({shape}, dtype={_dtype(f.result)})"
        ]
    return f"{f.text}\nclass F{f.name}(T.autograd.Function):\n{indented(lines)}"


def _dtype(tensor: Any) -> str:
    return f"T.{str(tensor.dtype).removeprefix('torch.')}"


def _settings(w: Writer, arguments: str, given: list[str]) -> list[str]:
    """What `forward` or `setup_context` tells the context."""
    lines = [f"ctx.save_for_backward({arguments})"]
    lines += [f"ctx.save_for_forward({arguments})"] if w.chance(0.2) else []
    lines += [f"ctx.mark_dirty({given[0]})"] if w.chance(0.15) else []
    lines += ["ctx.mark_non_differentiable(output)"] if w.chance(0.05) and not w.is_transformed else []
    lines += ["ctx.set_materialize_grads(False)"] if w.chance(0.1) else []
    return lines


def _formula(w: Writer, name: str, f: Function) -> str:
    formulas = [
        f"grad.sum() * T.ones_like({name})",
        f"grad.sum() * {name}",
        f"grad.sum() * {name}",
        f"grad.sum() * {name}.cos()",
        f"grad.mean().expand({name}.shape)",
        "None",
        "grad",
        "grad.sum()",
        "grad * 2",
    ]
    return w.pick(formulas)


# -------------------- modules --------------------

OPTIMIZERS = (
    "SGD({p}, lr=0.1)",
    "SGD({p}, lr=0.1, momentum=0.9, nesterov=True)",
    "SGD({p}, lr=0.1, momentum=0.5, weight_decay=0.1, foreach=True)",
    "Adam({p}, lr=0.1)",
    "Adam({p}, lr=0.1, amsgrad=True, foreach=True)",
    "AdamW({p}, lr=0.1)",
    "RMSprop({p}, lr=0.07, momentum=0.5)",  # 0.1 makes ties of halves, which rounding decides
    "Adagrad({p}, lr=0.1)",
    "NAdam({p}, lr=0.1)",
    "Rprop({p}, lr=0.1)",
    "Adadelta({p}, lr=0.5)",
    "Adamax({p}, lr=0.1, maximize=True)",
)


@statement(4, WHOLE)
def module(w: Writer) -> str | None:
    """A module whose `forward` is a body with a parameter, trained for two steps."""
    name = _variable(w)
    if name is None or w.env[name].dtype.itemsize < 4 or w.env[name].is_complex():
        return None
    shape, dtype = tuple(w.env[name].shape), str(w.env[name].dtype).removeprefix("torch.")
    spec = f"make({shape}, {dtype!r}, 'plain', {w.random.randint(0, 99)}, False)"
    f = _made(w, name, name, captures=False)
    if f is None:
        return None
    m, o = f"M{f.name}", f"o{f.name}"
    p = w.pick([f"{m}.parameters()", f"[dict(params=[{m}.w], lr=0.2)]"])
    loss = f"{m}({name}).abs().square().mean()" if not f.result.is_complex() else f"{m}({name}).abs().mean()"
    lines = [
        f.text,
        f"{m} = T.nn.Module()",
        f"{m}.w = T.nn.Parameter({spec})",
        f"{m}.register_buffer('b', {spec} * 2)",
        f"{m}.forward = lambda a: {f.name}(a, {m}.w) + {m}.b.sum()",
        *_hooks_of(w, m),
        f"{o} = T.optim.{w.pick(OPTIMIZERS).format(p=p)}",
        "for _ in range(2):",
        f"    {o}.zero_grad(set_to_none={w.chance(0.7)})",
        f"    {loss}.backward()",
        f"    {o}.step()",
        *_after(w, m, o, name),
    ]
    return "\n".join(lines)


def _hooks_of(w: Writer, m: str) -> list[str]:
    hooks = [
        f"{m}.register_forward_hook(lambda m, i, o: note('fh', *i, o) and None)",
        f"{m}.register_forward_pre_hook(lambda m, i: (i[0] * 2,))",
        f"{m}.register_full_backward_hook(lambda m, i, o: note('bh', *i, *o) and None)",
        f"{m}.register_full_backward_pre_hook(lambda m, o: tuple(g * 2 for g in o))",
        f"{m}.w.register_post_accumulate_grad_hook(lambda p: note('ph', p.grad) and None)",
    ]
    return [w.pick(hooks)] if w.chance(0.4) else []


def _after(w: Writer, m: str, o: str, name: str) -> list[str]:
    lines = [
        [f"{w.new()} = {m}.w", f"{w.new()} = {m}.w.grad"],
        [f"{w.new()} = {m}.state_dict()['w']", f"{w.new()} = {m}.b"],
        [f"{w.new()} = copy.deepcopy({m}).w"],
        [f"{w.new()} = T.func.functional_call({m}, {{'w': {name}}}, ({name},))"],
        [f"note('state', *[v for s in {o}.state_dict()['state'].values() for v in s.values()])"],
        [f"{m}.load_state_dict({{'w': {name}.detach(), 'b': {name}.detach()}})", f"{w.new()} = {m}.w"],
        [f"T.nn.utils.clip_grad_norm_([{m}.w], 0.5)", f"{w.new()} = {m}.w.grad"],
    ]
    return w.pick(lines)


@statement(3, WHOLE)
def copies(w: Writer) -> str:
    name = w.name()
    lines = [
        f"{w.new()} = copy.deepcopy({name})",
        f"{w.new()} = copy.copy({name})",
        f"{w.new()}, {w.new()} = copy.deepcopy([{name}, {w.name()}])",
        f"{w.new()} = {name}.clone().detach().requires_grad_({name}.is_floating_point())",
        f"{w.new()} = T.nn.Parameter({name}, requires_grad={name}.is_floating_point())",
        f"{w.new()} = T.empty_like({name}).copy_({name})",
        f"{w.new()} = {name}.new_tensor({name}.tolist())",
    ]
    return w.pick(lines)
