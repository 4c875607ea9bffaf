"""The methods of Tensor that are written by hand and need the rooms above `mindtorch._core`.

Importing a module of this package puts its methods on the class (`extend_tensor`); importing the package, all of them.
"""

from mindtorch._tensor_methods import arrays as arrays
from mindtorch._tensor_methods import autograd as autograd
from mindtorch._tensor_methods import conversion as conversion
from mindtorch._tensor_methods import copying as copying
from mindtorch._tensor_methods import layouts as layouts
from mindtorch._tensor_methods import legacy as legacy
from mindtorch._tensor_methods import mapping as mapping
from mindtorch._tensor_methods import memory as memory
from mindtorch._tensor_methods import moving as moving
from mindtorch._tensor_methods import operators as operators
from mindtorch._tensor_methods import subclass as subclass
from mindtorch._tensor_methods import wrapper_subclass as wrapper_subclass
