"""Selective checkpointing behaves as in PyTorch: what runs again, and what is refused."""

from functools import partial

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs, sample

program, test_program = programs()


def run(T, function, policy, *inputs, backward=True, **options):
    """A checkpointed call under a policy, and its backward pass."""
    module = T.utils.checkpoint
    contexts = partial(module.create_selective_checkpoint_contexts, policy, **options)
    y = module.checkpoint(function, *inputs, use_reentrant=False, context_fn=contexts)
    if backward:
        y.sum().backward()
    return y


def counting(T):
    """A mode that counts the ops that run."""
    mode_class = T.utils._python_dispatch.TorchDispatchMode

    class Counting(mode_class):
        def __init__(self):
            super().__init__()
            self.ops = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.ops.append(str(func))
            return func(*args, **(kwargs or {}))

    return Counting()


def products(x):
    return (x @ x).sin() @ x.cos()


@program
def a_list_of_ops(T):
    x = sample(T, 3, 3)
    run(T, products, [T.ops.aten.mm.default], x)
    return x.grad


@program
def a_policy(T):
    x, seen = sample(T, 3, 3), []
    policy = T.utils.checkpoint.CheckpointPolicy

    def choose(context, op, *args, **kwargs):
        seen.append((str(op), context.is_recompute, context.op_output, len(args), kwargs))
        return policy.MUST_SAVE if op is T.ops.aten.sin.default else policy.PREFER_RECOMPUTE

    run(T, products, choose, x)
    return x.grad, seen


@program
def a_policy_that_answers_yes_or_no(T):
    x = sample(T, 3, 3)
    run(T, products, lambda context, op, *args, **kwargs: op is T.ops.aten.mm.default, x)
    return x.grad


@program
def everything_is_kept(T):
    x = sample(T, 3, 3)
    run(T, products, lambda context, op, *args, **kwargs: True, x)
    return x.grad


@program
def a_second_pass(T):
    x = sample(T, 3, 3)
    y = run(T, products, [T.ops.aten.mm.default], x, backward=False).sum()
    y.backward(retain_graph=True)
    return tried(y.backward), x.grad


@program
def what_runs_again(T):
    x, found = sample(T, 3, 3), []
    for policy in ([], [T.ops.aten.sin.default], [T.ops.aten.sin.default, T.ops.aten.cos.default]):
        calls = []

        def function(x, calls=calls):
            calls.append(1)
            return products(x)

        run(T, function, policy, x)
        found.append(len(calls))
    return found, x.grad


@program
def not_ops(T):
    make = T.utils.checkpoint.create_selective_checkpoint_contexts
    return tried(make, 3), tried(make, ["mm"]).partition(" of type")[0], tried(make, [T.ops.aten.mm])[-90:]


@program
def another_second_run(T):
    x, calls = sample(T, 3, 3), []

    def function(x):
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.cos().exp()

    return tried(run, T, function, [T.ops.aten.mm.default], x)


@program
def a_longer_second_run(T):
    x, calls = sample(T, 3, 3), []

    def function(x):
        calls.append(1)
        for _ in calls:
            x = x.sin() * 1
        return x.exp()

    return tried(run, T, function, [T.ops.aten.mm.default], x)


@program
def a_kept_result_is_written(T):
    x = sample(T, 3, 3)

    def function(x):
        y = x.sin()
        y.mul_(2)
        return y * x

    return tried(run, T, function, [T.ops.aten.sin.default], x)


@program
def a_kept_result_may_be_written(T):
    x = sample(T, 3, 3)

    def function(x):
        y = x.sin()
        y.mul_(2)
        return y * x

    return tried(lambda: run(T, function, [T.ops.aten.sin.default], x, allow_cache_entry_mutation=True).shape)


@program
def policies(T):
    return [(each.name, each.value) for each in T.utils.checkpoint.CheckpointPolicy]
