"""The methods of Tensor that are written by hand and need the layers above `mindtorch.tensor`.

Importing a module of this package puts its methods on the class (`extend_tensor`); importing the package, all of them.
"""

from mindtorch.methods import arrays as arrays
from mindtorch.methods import conversion as conversion
from mindtorch.methods import copying as copying
from mindtorch.methods import layouts as layouts
from mindtorch.methods import legacy as legacy
from mindtorch.methods import mapping as mapping
from mindtorch.methods import memory as memory
from mindtorch.methods import moving as moving
from mindtorch.methods import operators as operators
from mindtorch.methods import subclass as subclass
from mindtorch.methods import wrapper_subclass as wrapper_subclass
