"""The packages that only the generator needs. Importing this says how to get those that are missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("black", "jinja2", "tomllib" if sys.version_info >= (3, 11) else "tomli", "yaml")

missing = [name for name in _NEEDED if find_spec(name) is None]
if missing:
    sys.exit(f"the generator needs {', '.join(missing)}: pip install 'mindtorch[codegen]'")
