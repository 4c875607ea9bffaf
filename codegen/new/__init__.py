"""``python -m codegen new``: adds an op to the input files.

The steps, a module each: what is asked for (``wanted``, ``torch_facts``), the listed op that is most like it
(``relatives``) and the choices that follow (``draft``), the two entries (``op_entry``, ``derivative_entry``), what is
to be written by hand (``by_hand``), where all that goes (``edits``, ``insertion``). ``plan`` puts them together.
"""

from __future__ import annotations
