"""The commands of ``python -m codegen``, a module each.

A command has ``HELP`` (a line for the list of commands), ``add_arguments(parser)`` and ``run(options, root)``, which
returns the exit status. ``root`` is the folder with ops.yaml.
"""

from __future__ import annotations
