"""Backward passes inside of backward passes over the same graph, and over graphs that overlap with it.

Programs are made at random: values out of values, and places (hooks on tensors and nodes, a Function's backward,
unpack hooks) at which a pass for other outputs and inputs runs, which comes to such places in turn. What every pass
gives, what every Function is told of the inputs that need a gradient, and the order of all that, is as in torch.
"""

import random

import numpy as np
import pytest

import mindtorch

torch = pytest.importorskip("torch")

DEPTH = 2  # of passes in passes
LEAVES = 3


class Program:
    """A random graph in library T, and a record of what its passes do."""

    def __init__(self, T, seed):
        self.T = T
        self.seed = seed
        self.choose = random.Random(seed)
        self.record = []
        self.depth = 0
        data = np.random.RandomState(seed).uniform(0.5, 1.5, (LEAVES, 4))
        self.sources = [{index} for index in range(LEAVES)]  # of each value: it and all that it is made of
        self.values = [T.tensor(row.tolist(), dtype=T.float64, requires_grad=True) for row in data]
        # In torch a node that unpacks is locked: a pass that is run there may come to earlier nodes only.
        self.reachable = None
        self.function = self.make_function()
        for _ in range(7):
            self.add_value()
        for index in self.choose.sample(range(len(self.values)), 4):
            self.add_hook(index)

    # -------------------- the graph --------------------

    def add_value(self):
        count = len(self.values)
        left, right = self.choose.choices(range(count), k=2)
        self.sources.append({count} | self.sources[left] | self.sources[right])
        self.values.append(self.choose.choice(KINDS)(self, self.values[left], self.values[right]))

    def product(self, left, right):
        return left * right

    def of_saved_output(self, left, right):
        return left.sigmoid() + right

    def written_in_place(self, left, right):
        copy = left.clone()
        copy[1:3].mul_(right[:2])
        return copy

    def of_several_outputs(self, left, right):
        first, second = self.T.stack([left, right]).unbind(0)
        return first * 2 + second.cos()

    def of_function(self, left, right):
        return self.function.apply(left, 2.0, right, right.detach())

    def of_packed(self, left, right):
        count = len(self.values)

        def unpack(tensor):
            outer, self.reachable = self.reachable, min(count, self.reachable or count)
            self.run_inside(f"unpack of value {count}")
            self.reachable = outer
            return tensor

        with self.T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
            return left * right

    def make_function(self):
        program = self

        class Product(self.T.autograd.Function):
            @staticmethod
            def forward(ctx, left, factor, right, constant):
                ctx.save_for_backward(left, right)
                ctx.factor = factor
                return left * factor * right

            @staticmethod
            def backward(ctx, grad):
                program.record.append(("needs_input_grad", list(ctx.needs_input_grad)))
                left, right = ctx.saved_tensors
                inner = program.run_inside("backward of a Function")
                return grad * ctx.factor * right + inner, None, grad * ctx.factor * left, None

        return Product

    # -------------------- hooks --------------------

    def add_hook(self, index):
        value = self.values[index]
        kind = self.choose.choice(("tensor", "before", "after")) if value.grad_fn is not None else "tensor"
        site = f"{kind} hook of value {index}"
        if kind == "tensor":
            value.register_hook(lambda grad: grad * 1.5 + self.run_inside(site))
        elif kind == "before":
            value.grad_fn.register_prehook(lambda grads: (grads[0] + self.run_inside(site), *grads[1:]))
        else:
            value.grad_fn.register_hook(lambda results, grads: self.changed(results, self.run_inside(site)))

    def changed(self, results, change):
        self.record.append(("wanted", [result is not None for result in results]))
        return tuple(result if result is None else result - change for result in results)

    # -------------------- passes --------------------

    def run_inside(self, site):
        """A pass for random outputs and inputs; a number that depends on its results."""
        if self.depth == DEPTH:
            return 0.0
        choose = random.Random(f"{self.seed} {site} {len(self.record)}")
        output = choose.randrange(self.reachable or len(self.values))
        inputs = self.inputs_for(choose, output)
        self.depth += 1
        found = self.gradients(output, inputs)
        self.depth -= 1
        self.record.append((site, output, inputs, found))
        return 0.01 * sum(sum(grad) for grad in found if grad is not None)

    def inputs_for(self, choose, output):
        """Some values, one of which the output is made of: if there is none, torch runs the output's node anyway."""
        return [choose.choice(sorted(self.sources[output])), *choose.choices(range(len(self.values)), k=2)]

    def gradients(self, output, inputs, **options):
        value = self.values[output]
        wanted = [self.values[index] for index in inputs]
        start = self.T.ones_like(value)
        found = self.T.autograd.grad(value, wanted, start, retain_graph=True, allow_unused=True, **options)
        return [None if grad is None else grad.tolist() for grad in found]

    def run(self):
        """Outer passes of all kinds, one after the other."""
        last = len(self.values) - 1
        some = self.inputs_for(self.choose, last)
        self.record.append(self.gradients(last, some))
        self.record.append(self.gradients(last, some, create_graph=True))
        self.values[last].sum().backward(retain_graph=True)
        self.record.append(self.stored())
        self.values[last].sum().backward(inputs=self.values[1:2], retain_graph=True)
        self.record.append(self.stored())
        return self.record

    def stored(self):
        return [None if leaf.grad is None else leaf.grad.tolist() for leaf in self.values[:LEAVES]]


KINDS = [
    Program.product,
    Program.of_saved_output,
    Program.written_in_place,
    Program.of_several_outputs,
    Program.of_function,
    Program.of_packed,
]


def same(own, other):
    """Whether two records are alike but for the rounding of numbers."""
    if isinstance(own, (list, tuple)):
        return type(own) is type(other) and len(own) == len(other) and all(map(same, own, other))
    return own == pytest.approx(other, rel=1e-10, abs=1e-10) if isinstance(own, float) else own == other


@pytest.mark.parametrize("seed", range(80))
def test_passes_inside_of_passes(seed):
    own, other = (Program(T, seed).run() for T in (mindtorch, torch))
    for position, (left, right) in enumerate(zip(own, other)):
        assert same(left, right), f"entry {position} of the record"
    assert len(own) == len(other)
