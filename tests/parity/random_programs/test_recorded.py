"""Random programs, recorded and run again, give what they give; on other numbers too, and read from a file.

They are those of random_programs, whose writer looks at torch's tensors, as far as a recorder can see what they do.
"""

import io
import re
import warnings

import pytest

import mindtorch
from mindtorch.program import load, record
from tests.harness import to_numpy
from tests.parity.random_programs import programs as random_programs
from tests.parity.random_programs.programs import Writer, leaf, make
from tests.parity.random_programs.runs import ERRORS, Env, Pair

COUNT = 200
GROUP = 20
# What is no op: attributes of autograd, memory behind its back, backward passes.
NO_OPS = re.compile(r"\.data\b|\.grad\b|backward|autograd|_hook|requires_grad|retain_grad|detach_|T\.tensor")
# What looks at the numbers of its input, so that the recorded program is for these numbers only.
DECIDES_BY_NUMBERS = re.compile(r"bool|nonzero|\] \S?= |\[.* > |True|False")


def random_lines(seed, length=12):
    """The lines that make three inputs, and those of a program on them that runs without an error in both libraries."""
    pair = Pair(make, quiet=True)
    writer = Writer(seed, pair.theirs)
    inputs = [leaf(writer).replace(", True)", ", False)") for _ in range(3)]
    for line in inputs:
        pair.step(line)
    lines = []
    for _ in range(length * 5):
        line = writer.pick(random_programs.STATEMENTS)(writer)
        if line and " = make(" not in line and not NO_OPS.search(line) and pair.allows(line) and runs(line, pair):
            lines.append(line)
        if len(lines) == length:
            break
    return inputs, lines


def runs(line, pair):
    for env in (pair.theirs, pair.ours):
        try:
            exec(line, env)
        except ERRORS:
            return False
    return True


def fresh(inputs, other_numbers=False):
    """The inputs; with other numbers of the same kind if wanted."""
    env = Env(mindtorch, make)
    for line in inputs:
        exec(re.sub(r"(\d+), False\)$", r"1\1, False)", line) if other_numbers else line, env)
    return env.tensors()


def function_of(names, lines):
    def function(*tensors):
        env = Env(mindtorch, make)
        env.update(zip(names, tensors))
        for line in lines:
            exec(line, env)
        return env.tensors()

    return function


def differences(seed):
    """Where the recorded program of a seed differs from the function."""
    inputs, lines = random_lines(seed)
    names = fresh(inputs).keys()
    function = function_of(names, lines)
    program = record(function, *fresh(inputs).values())
    file = io.BytesIO()
    program.save(file)
    for other_numbers in (False, True):
        if other_numbers and any(map(DECIDES_BY_NUMBERS.search, lines)):
            continue
        try:
            expected = function(*fresh(inputs, other_numbers).values())
        except ERRORS:
            continue
        for run in (program, load(file)):
            result = run(*fresh(inputs, other_numbers).values())
            wrong = [name for name in expected if not same(result[name], expected[name])]
            if wrong or result.keys() != expected.keys():
                yield "\n".join([f"seed {seed}: {', '.join(wrong)}", *inputs, *lines, str(program)])


def same(one, other):
    if one.dtype is not other.dtype or one.shape != other.shape or one.stride() != other.stride():
        return False
    return to_numpy(one).tobytes() == to_numpy(other).tobytes()


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_recorded_programs(first):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [text for seed in range(first, first + GROUP) for text in differences(seed)]
    assert "\n\n".join(found) == ""
