"""The programs of `moduleinfo` in which a module is known to differ: samples are a module's inputs, those for training
before those for evaluation.

"<program> strides" is the order of the results in memory, where all else agrees.
"""

from tests.parity.known import Table

TABLE = Table()
