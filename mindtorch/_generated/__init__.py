"""In a checkout: stands in for the installed package `mindtorch._generated`, which is the folder generated/.

Not installed; see setup.py.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "generated")]
