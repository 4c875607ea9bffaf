"""The programs of examples/, as they are and with PyTorch in place of mindtorch."""

import sys
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
IMPORT = "import mindtorch as torch"


def example_with(library, name):
    """An example as a module that was written for the given library."""
    path = EXAMPLES / f"{name}.py"
    source = path.read_text()
    assert source.count(IMPORT) == 2  # in the docstring, and the statement
    module = ModuleType(f"{name}_with_{library}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    module.__dict__["__file__"] = str(path)
    exec(compile(source.replace(IMPORT, f"import {library} as torch"), str(path), "exec"), module.__dict__)
    return module
