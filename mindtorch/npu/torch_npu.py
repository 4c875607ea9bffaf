"""`as_torch_npu`: a module `torch_npu` for programs that import it."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_NAME = "torch_npu"
_FOLDER = Path(__file__).parent / "package" / _NAME


def as_torch_npu() -> ModuleType:
    """Have `import torch_npu` give what mindtorch has of it, in this process."""
    known = sys.modules.get(_NAME)
    if known is not None:
        if getattr(known, "__file__", None) != str(_FOLDER / "__init__.py"):
            raise ImportError("torch_npu is imported already, and is not mindtorch's")
        return known
    spec = spec_from_file_location(_NAME, _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)])
    assert spec is not None and spec.loader is not None  # the file is there
    own = f"{_NAME}.npu"
    for name, module in list(sys.modules.items()):  # one module under two names, not two of one file
        if name == "mindtorch.npu" or name.startswith("mindtorch.npu."):
            sys.modules[own + name.removeprefix("mindtorch.npu")] = module
    made = sys.modules[_NAME] = module_from_spec(spec)
    try:
        spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[_NAME]
        raise
    return made
