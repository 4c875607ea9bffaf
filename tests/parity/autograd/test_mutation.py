"""`allow_mutation_on_saved_tensors` behaves as in PyTorch."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs, sample

program, test_program = programs()


@program
def a_written_input(T):
    x = sample(T, 2, 2)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = (y**2).sin()
        y.mul_(10)
        y.add_(1)
        out.sum().backward()
    return x.grad, y


@program
def a_written_result(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        z = y.clone()
        y.zero_()
        (z.sum() + y.sum()).backward()
    return x.grad


@program
def a_written_view(T):
    x = sample(T, 2, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = y.sin()
        y[0].mul_(3)
        y.view(-1)[1:2].fill_(0)
        out.sum().backward()
    return x.grad, y


@program
def the_context_counts_clones(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        out = y.sin() * y
        before = len(context.cloned)
        y.mul_(2)
        y.mul_(2)
        during = len(context.cloned)
        out.sum().backward()
        del out
    return before, during, len(context.cloned)


@program
def used_outside(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = y.sin()
        y.mul_(2)
    return tried(out.sum().backward)


@program
def used_outside_untouched(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        out = x.sin()
    return tried(out.sum().backward)


@program
def written_outside(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = y.sin()
    y.mul_(2)
    return tried(out.sum().backward)


@program
def another_context(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = y.sin()
        y.mul_(2)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        return tried(out.sum().backward)


@program
def nested_contexts(T):
    def nested():
        with T.autograd.graph.allow_mutation_on_saved_tensors():
            with T.autograd.graph.allow_mutation_on_saved_tensors():
                pass

    return tried(nested), tried(nested)


@program
def with_other_hooks(T):
    x, seen = sample(T, 3), []
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        with T.autograd.graph.saved_tensors_hooks(lambda tensor: seen.append(1) or tensor, lambda tensor: tensor):
            y = x.clone()
            out = y.sin()
        y.mul_(2)
        text = tried(out.sum().backward)
    return seen, text, x.grad


@program
def with_out(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.detach().clone()
        out = x * y
        T.mul(y.detach(), 3.0, out=y)
        out.sum().backward()
    return x.grad, y


@program
def second_derivatives(T):
    x = sample(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = (y * y * y).sum()
        y.zero_()
        (grad,) = T.autograd.grad(out, x, create_graph=True)
        (second,) = T.autograd.grad(grad.sum(), x)
    return grad, second


@program
def foreach(T):
    x = [sample(T, 3, seed=i) for i in range(2)]
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = [each.clone() for each in x]
        out = sum(each.sin().sum() for each in y)
        with T.no_grad():
            T._foreach_mul_(y, 2.0)
        out.backward()
    return [each.grad for each in x], y
