"""The packages that only the generator needs. Importing this says how to get those that are missing.

In a checkout, where the generator is called `codegen`, `make install` has put them into `.venv`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

_TOML = "tomllib" if sys.version_info >= (3, 11) else "tomli"
_NEEDED = {"black": "black", "jinja2": "jinja2", _TOML: _TOML, "yaml": "pyyaml"}  # modules, and what installs them

missing = [name for name in _NEEDED if find_spec(name) is None]
if missing:
    in_checkout = "run `make install` once, and activate its environment: . .venv/bin/activate"
    remedy = in_checkout if __package__ == "codegen" else f"pip install {' '.join([_NEEDED[name] for name in missing])}"
    sys.exit(f"the generator needs {', '.join(missing)}: {remedy}")
