"""`import torch` means this library: for the programs and packages of a process that were written for PyTorch.

    python -m mindtorch program.py                      # a program, or -m module, or -c code
    pytest -p mindtorch.pytest_plugin                   # a suite of tests
    mindtorch.install_as_torch()                        # from the program itself, before its first `import torch`

Nothing of this is loaded otherwise.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mindtorch._as_torch.finder import TorchFinder
from mindtorch._as_torch.labels import label_all
from mindtorch._as_torch.pickles import pickle_as_torch
from mindtorch._support.own_names import ROOTS

__all__ = ["install_as_torch"]

# Python processes that are started from this one find a sitecustomize.py there, which installs the library, too.
_CHILDREN = str(Path(__file__).with_name("children"))


def install_as_torch() -> None:
    """From now on `import torch` gives this library, in this process and in the Python processes that it starts.

    All modules are there under both names, as the same objects: `torch.nn` is `mindtorch.nn`. Classes and functions say
    that they are PyTorch's (`__module__`), so that pickles are exchanged with it. The metadata of the package `torch`
    has the version of PyTorch whose behaviour this is. A second call changes nothing.

    Raises ImportError if PyTorch itself is imported already, as its objects would be mixed up with these.
    """
    library = sys.modules["mindtorch"]
    loaded = sys.modules.get("torch")
    if loaded is library:
        return
    if loaded is not None:
        raise ImportError(
            f"PyTorch is imported already, from {getattr(loaded, '__file__', None)}: mindtorch can only take the name "
            "torch before the first `import torch` of a process"
        )
    ROOTS.add("torch")
    finder = TorchFinder()
    sys.meta_path.insert(0, finder)
    label_all()
    library.__name__ = "torch"
    library.__spec__ = finder.find_spec("torch")
    pickle_as_torch()
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _CHILDREN not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([_CHILDREN, *filter(None, paths)])
