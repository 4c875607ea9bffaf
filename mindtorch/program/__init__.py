"""Recorded programs: the ops that a function of tensors calls, as a list that can be run, printed, saved and loaded.

    program = record(lambda x, y: (x * y).sum(), x, y)
    program.save("product.program")
    load("product.program")(x, y)

A program says which version of each op it means, so that it keeps working when ops change.
"""

from mindtorch.program.model import Program as Program
from mindtorch.program.reader import load as load
from mindtorch.program.recorder import record as record
from mindtorch.program.structure import ProgramError as ProgramError
