"""Python processes that are started under `mindtorch.install_as_torch()` run this: their `torch` is mindtorch, too.

Nothing is imported before `torch` is asked for. Afterwards comes the file of this name that would have run otherwise.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path


class _WaitsForTorch:
    """Installs mindtorch when `torch`, or the metadata of that package, is first looked for."""

    def find_spec(self, fullname, path=None, target=None):
        return self._installed().find_spec(fullname) if fullname == "torch" else None

    def find_distributions(self, context):
        wanted = context.name is None or context.name.lower() == "torch"
        return self._installed().find_distributions(context) if wanted else []

    def _installed(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        import_module("mindtorch").install_as_torch()
        return sys.meta_path[0]


def _run_the_other_file():
    folder = str(Path(__file__).parent)
    spec = PathFinder.find_spec(__name__, [path for path in sys.path if path != folder])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


sys.meta_path.insert(0, _WaitsForTorch())
_run_the_other_file()
