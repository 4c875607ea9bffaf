"""In a checkout: stands in for the installed package `mindtorch._generated`, which is the folder generated/.

Not installed; see setup.py. The type stubs of that package lie here (they are installed with it), because type checkers
do not run this module and look for its submodules in this folder.
"""

import os.path  # pathlib takes long to import

__path__ = [os.path.normpath(os.path.join(__file__, "../../../generated"))]
