"""In a checkout: stands in for the installed package `mindtorch_codegen`, which is the folder codegen/.

Not installed; see setup.py.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[1] / "codegen")]
