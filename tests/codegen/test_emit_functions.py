# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""The functions of generated/ops: a snippet of YAML for each kind of op, and the exact text that follows from it."""

from textwrap import indent

from tests.codegen.emitted import definition, emit_project, expected


def test_a_tensor_and_a_number(tmp_path):
    ops = """
        - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          numbers: other
          operators: __mul__, __imul__
          dispatch: {CPU: mul}
    """
    derivatives = """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other
          other: grad * self
          result: self_t * other_p + other_t * self_p
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "_mul_kernels") == expected("""
        _mul_kernels = kernel_table("mul.Tensor")
        """)
    assert definition(files, "generated/ops/pointwise.py", "mul") == expected('''
        def mul(input, other, *, out=None):
            """mul.Tensor(Tensor self, Tensor other) -> Tensor"""
            if state.active_modes and intercepts(mul, input, other, out):
                return call(mul, input, other, out=out)
            try:
                if type(other) is not Tensor:
                    other = operand_of(other)
                input_array = input._mt_array
                other_array = other._mt_array
                if out is not None:  # mul.out
                    out_array = out._mt_array
                    if IS_METHOD or not (input._mt_edge is other._mt_edge is out._mt_edge is None):
                        refuse_out(IS_METHOD, "mul", input, other, out)
                    return adopt_result(out, _mul_kernels[type(input_array)](input_array, other_array, out=out_array))
                node = None
                if not (input._mt_edge is other._mt_edge is None) and (state.grad_everywhere or thread.grad_enabled):
                    input_edge = input._mt_edge or edge_of(input)
                    other_edge = other._mt_edge or edge_of(other)
                    if input_edge is not None or other_edge is not None:
                        node = nodes.MulBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (input_edge or None, other_edge or None)
                        node._mt_saved = (save(other) if input_edge else None, save(input) if other_edge else None)
                return wrap(_mul_kernels[type(input_array)](input_array, other_array), node)
            except CALL_ERRORS as error:
                return failed_or_number_first(error, mul, input, other, out=out)
        ''')


def test_two_plain_operands_go_straight_to_the_computation(tmp_path):
    ops = """
        - func: sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
          family: pointwise
          promotion: default
          shape: broadcast
          dispatch: {CPU: sub}
    """
    files = emit_project(tmp_path, ops)
    text = definition(files, "generated/ops/pointwise.py", "sub")
    part = expected("""
            kind = input._mt_kind
            if kind and kind is other._mt_kind and not state.active_modes and alpha == 1 and alpha is not True:
                try:
                    array = _sub_kernels.direct(input_array, other_array)
                except FAST_PATH_FAILED:
                    pass
                else:
                    tensor = new_object(Tensor)
                    tensor._mt_array = array
                    tensor._mt_kind = kind
                    tensor._mt_version = tensor._mt_meta = tensor._mt_edge = None
                    return tensor
            kind = common_kind(input, other)
            return wrap(_sub_kernels[kind or type(input_array)](input_array, other_array, alpha), None, kind)
    """)
    assert indent(part.rstrip() + "\n", " " * 8) in text


def test_kinds_of_operands_and_a_saved_result(tmp_path):
    ops = """
        - func: pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
          family: pointwise
          promotion: default
          shape: broadcast
          dispatch: {CPU: pow}
    """
    derivatives = """
        - name: pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
          self: multiply(grad, self) * exponent
          exponent: multiply(grad, result) * self
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "pow") == expected('''
        def pow(input, exponent):
            """pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"""
            if state.active_modes and intercepts(pow, input, exponent):
                return call(pow, input, exponent)
            try:
                input_array = input._mt_array
                exponent_array = exponent._mt_array
                node = None
                if not (input._mt_edge is exponent._mt_edge is None) and (state.grad_everywhere or thread.grad_enabled):
                    input_edge = input._mt_edge or edge_of(input)
                    exponent_edge = exponent._mt_edge or edge_of(exponent)
                    if input_edge is not None or exponent_edge is not None:
                        node = nodes.PowBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (input_edge or None, exponent_edge or None)
                        node._mt_saved = (save(exponent) if input_edge else None, save(input))
                kind = common_kind(input, exponent)
                result = wrap(_pow_kernels[kind or type(input_array)](input_array, exponent_array), node, kind)
                if node is not None:
                    node._mt_saved += (save_output(node, result),)
                return result
            except CALL_ERRORS as error:
                return failed(error, pow, locals())
        ''')
    assert definition(files, "generated/nodes/pointwise.py", "PowBackward0") == expected("""
        class PowBackward0(Node):
            schema = "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"

            __slots__ = ()

            saved = ("exponent", "self", "result")

            saved_for = (0, None, None)

            def apply(node, edges, grad):
                exponent, self, result = node.unpack()
                if grad is None:
                    return (None, None)
                return (
                    multiply(grad, self) * exponent if edges[0] else None,
                    multiply(grad, result) * self if edges[1] else None,
                )
        """)


def test_the_kind_of_one_operand(tmp_path):
    ops = """
        - func: floor(Tensor self) -> Tensor
          family: pointwise
          promotion: default
          shape: broadcast
          dispatch: {CPU: floor}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/pointwise.py", "floor") == expected('''
        def floor(input):
            """floor(Tensor self) -> Tensor"""
            if state.active_modes and intercepts(floor, input):
                return call(floor, input)
            try:
                input_array = input._mt_array
                kind = input._mt_kind or kind_of(input)
                return wrap(_floor_kernels[kind or type(input_array)](input_array), None, kind)
            except CALL_ERRORS as error:
                return failed(error, floor, locals())
        ''')


def test_in_place(tmp_path):
    ops = """
        - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          numbers: other
          operators: __mul__, __imul__
          dispatch: {CPU: mul}
    """
    derivatives = """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other
          other: grad * self
          result: self_t * other_p + other_t * self_p
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "mul_") == expected('''
        def mul_(input, other):
            """mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"""
            if state.active_modes and intercepts(mul_, input, other):
                return call(mul_, input, other)
            try:
                if type(other) is not Tensor:
                    other = operand_of(other)
                input_array = input._mt_array
                other_array = other._mt_array
                node = None
                if (state.grad_everywhere or thread.grad_enabled) and not (input._mt_edge is other._mt_edge is None):
                    input_edge = input._mt_edge or edge_of(input)
                    other_edge = other._mt_edge or edge_of(other)
                    if input_edge is not None or other_edge is not None:
                        check_inplace(input)
                        node = nodes.MulBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (input_edge or None, other_edge or None)
                        node._mt_saved = (save(other) if input_edge else None, save_copy(input) if other_edge else None)
                _mul_kernels[type(input_array)](input_array, other_array, out=input_array)
                return written(input, node)
            except CALL_ERRORS as error:
                return failed(error, mul_, locals())
        ''')


def test_in_place_with_a_saved_result(tmp_path):
    ops = """
        - func: exp(Tensor self) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          dispatch: {CPU: exp}
    """
    derivatives = """
        - name: exp(Tensor self) -> Tensor
          self: grad * result
          result: auto_element_wise
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "exp_") == expected('''
        def exp_(input):
            """exp_(Tensor(a!) self) -> Tensor(a!)"""
            if state.active_modes and intercepts(exp_, input):
                return call(exp_, input)
            try:
                input_array = input._mt_array
                node = None
                if (state.grad_everywhere or thread.grad_enabled) and (edge := input._mt_edge) is not None:
                    if (edge := edge or edge_of(input)) is not None:
                        check_inplace(input)
                        node = nodes.ExpBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                _exp_kernels[type(input_array)](input_array, out=input_array)
                mark_written(input)
                if node is not None:
                    rebase(input, node)
                    node._mt_saved = (save_output(node, input),)
                return input
            except CALL_ERRORS as error:
                return failed(error, exp_, locals())
        ''')


def test_out(tmp_path):
    ops = """
        - func: exp(Tensor self) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          dispatch: {CPU: exp}
    """
    derivatives = """
        - name: exp(Tensor self) -> Tensor
          self: grad * result
          result: auto_element_wise
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "exp_out") == "exp_out = out_form(exp)\n"
    assert '"exp_out": (("input",), "", {}, ("out",)),' in files["generated/parameters/pointwise.py"]


def test_saved_result(tmp_path):
    ops = """
        - func: exp(Tensor self) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          dispatch: {CPU: exp}
    """
    derivatives = """
        - name: exp(Tensor self) -> Tensor
          self: grad * result
          result: auto_element_wise
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "exp") == expected('''
        def exp(input, *, out=None):
            """exp(Tensor self) -> Tensor"""
            if state.active_modes and intercepts(exp, input, out):
                return call(exp, input, out=out)
            try:
                input_array = input._mt_array
                if out is not None:  # exp.out
                    out_array = out._mt_array
                    if IS_METHOD or not (input._mt_edge is out._mt_edge is None):
                        refuse_out(IS_METHOD, "exp", input, out)
                    return adopt_result(out, _exp_kernels[type(input_array)](input_array, out=out_array))
                node = None
                if (edge := input._mt_edge) is not None and (state.grad_everywhere or thread.grad_enabled):
                    if (edge := edge or edge_of(input)) is not None:
                        node = nodes.ExpBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                result = wrap(_exp_kernels[type(input_array)](input_array), node)
                if node is not None:
                    node._mt_saved = (save_output(node, result),)
                return result
            except CALL_ERRORS as error:
                return failed(error, exp, locals())
        ''')


def test_optional_tensors_converted_values_and_a_condition(tmp_path):
    ops = """
        - func: scale(Tensor self, Tensor? weight=None, Scalar factor=1, *, int[2] padding=0, int? step=None) -> Tensor
          family: pointwise
          dispatch: {CPU: scale}
    """
    derivatives = """
        - name: scale(Tensor self, Tensor? weight=None, Scalar factor=1, *, int[2] padding=0, int? step=None) -> Tensor
          self: multiply(grad, weight) * factor
          weight: multiply(grad, self).reshape(weight.shape) * factor
          when: step is None
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/pointwise.py", "scale") == expected('''
        def scale(input, weight=None, factor=1, *, padding=(0, 0), step=None):
            """scale(Tensor self, Tensor? weight=None, Scalar factor=1, *, int[2] padding=0, int? step=None) -> Tensor"""
            if state.active_modes and intercepts(scale, input, weight):
                return call(scale, input, weight, factor, padding=padding, step=step)
            try:
                factor = factor if type(factor) is int or type(factor) is float else scalar_of(factor, "scale", "factor", 3)
                if type(padding) is int:
                    padding = (padding, padding)
                elif type(padding) is not tuple or padding and type(padding[0]) is not int:
                    padding = sized_ints_of(padding, "scale", "padding")
                step = step if step is None or type(step) is int and -(2**63) <= step < 2**63 else int_of(step, "scale", "step")
                input_array = input._mt_array
                weight_array = None if weight is None else weight._mt_array
                node = None
                if (
                    (input._mt_edge is not None or (weight is not None and weight._mt_edge is not None))
                    and (state.grad_everywhere or thread.grad_enabled)
                    and (step is None)
                ):
                    input_edge = input._mt_edge or edge_of(input)
                    weight_edge = None if weight is None else (weight._mt_edge or edge_of(weight))
                    if input_edge is not None or weight_edge is not None:
                        node = nodes.ScaleBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (input_edge or None, weight_edge or None)
                        node.factor = factor
                        node.weight_shape = None if weight is None else weight_array.shape
                        node._mt_saved = (
                            save(input) if weight_edge else None,
                            save(weight) if input_edge and weight is not None else None,
                        )
                return wrap(_scale_kernels[type(input_array)](input_array, weight_array, factor, padding, step), node)
            except CALL_ERRORS as error:
                return failed(error, scale, locals())
        ''')


def test_several_named_results(tmp_path):
    ops = """
        - func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          family: reduction
          variants: function, method
          autogen: out
          dispatch: {CPU: max_dim}
    """
    derivatives = """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: multiply(grad, indices) + dim + self.shape[0]
          values: multiply(self_t, indices)
          output_differentiability: [True, False]
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/reduction.py", "max") == expected('''
        def max(input, dim=..., keepdim=False, *, out=None, axis=None, keepdims=None):
            """max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
            max(input, dim, keepdim=False, *, out=None)
            """
            if axis is not None:
                dim = axis
            if keepdims is not None:
                keepdim = keepdims
            if state.active_modes and intercepts(max, input, out):
                return call(max, input, dim, keepdim, out=out)
            try:
                dim = dim if type(dim) is int else int_of(dim, "max", "dim", 2)
                keepdim = keepdim if keepdim is False or keepdim is True else bool_of(keepdim, "max", "keepdim", 3)
                input_array = input._mt_array
                if out is not None:  # max.dim_out
                    if IS_METHOD or not isinstance(out, (list, tuple)):
                        raise NotATensor
                    if len(out) != 2:
                        raise wrong_out_count(2, len(out))
                    out_arrays = tuple([tensor._mt_array for tensor in out])
                    refuse_grad("max", input, *out)
                    arrays = _max_kernels[type(input_array)](input_array, dim, keepdim, out=out_arrays)
                    for tensor, tensor_array in zip(out, arrays):
                        adopt_result(tensor, tensor_array)
                    return return_types.max_out(out)
                node = None
                if (edge := input._mt_edge) is not None and (state.grad_everywhere or thread.grad_enabled):
                    if (edge := edge or edge_of(input)) is not None:
                        node = nodes.MaxBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                        node.dim = dim
                        node.self_shape = input_array.shape
                values_array, indices_array = _max_kernels[type(input_array)](input_array, dim, keepdim)
                values = wrap(values_array, node)
                indices = wrap(indices_array)
                if node is not None:
                    node._mt_saved = (save(indices),)
                return return_types.max((values, indices))
            except CALL_ERRORS as error:
                return failed(error, max, locals())
        ''')
    assert definition(files, "generated/ops/reduction.py", "max_out") == "max_out = out_form(max)\n"
    assert definition(files, "generated/return_types.py", "max") == expected('''
        class max(NamedResult):
            """max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""

            __slots__ = ()

            values: Tensor
            indices: Tensor
        ''')


def test_results_that_may_be_missing(tmp_path):
    ops = """
        - func: norm_grads(Tensor self, Tensor other, bool[2] output_mask) -> (Tensor, Tensor)
          family: nn
          dispatch: {CPU: norm_grads}
    """
    derivatives = """
        - name: norm_grads(Tensor self, Tensor other, bool[2] output_mask) -> (Tensor, Tensor)
          self, other: multiply(grads[0], grads[1], needs_input_grad.self)
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/nn.py", "norm_grads") == expected('''
        def norm_grads(input, other, output_mask):
            """norm_grads(Tensor self, Tensor other, bool[2] output_mask) -> (Tensor, Tensor)"""
            if state.active_modes and intercepts(norm_grads, input, other):
                return call(norm_grads, input, other, output_mask)
            try:
                if len(output_mask) != 2:
                    raise wrong_length(output_mask, 2)
                input_array = input._mt_array
                other_array = other._mt_array
                node = None
                if not (input._mt_edge is other._mt_edge is None) and (state.grad_everywhere or thread.grad_enabled):
                    input_edge = input._mt_edge or edge_of(input)
                    other_edge = other._mt_edge or edge_of(other)
                    if input_edge is not None or other_edge is not None:
                        node = nodes.NormGradsBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (input_edge or None, other_edge or None)
                result0_array, result1_array = _norm_grads_kernels[type(input_array)](input_array, other_array, output_mask)
                result0 = wrap_output(result0_array, node, 0)
                result1 = wrap_output(result1_array, node, 1)
                return result0, result1
            except CALL_ERRORS as error:
                return failed(error, norm_grads, locals())
        ''')


def test_a_list_of_tensors(tmp_path):
    ops = """
        - func: cat(Tensor[] tensors, int dim=0) -> Tensor
          family: indexing
          dispatch: {CPU: cat}
    """
    derivatives = """
        - name: cat(Tensor[] tensors, int dim=0) -> Tensor
          tensors: grad.split(tensors.shapes, dim)
          result: auto_linear
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/indexing.py", "cat") == expected('''
        def cat(tensors, dim=0, *, axis=None):
            """cat(Tensor[] tensors, int dim=0) -> Tensor"""
            if axis is not None:
                dim = axis
            if state.active_modes and intercepts(cat, tensors):
                return call(cat, tensors, dim)
            try:
                if type(tensors) is not list and not isinstance(tensors, (list, tuple)):
                    raise NotATensor
                if not tensors:
                    raise empty_tensor_list("cat")
                dim = dim if type(dim) is int else int_of(dim, "cat", "dim", 2)
                tensors_arrays = [tensor._mt_array for tensor in tensors]
                node = None
                if state.grad_everywhere or thread.grad_enabled:
                    tensors_edges = edges_of(tensors)
                    if tensors_edges:
                        node = nodes.CatBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = tensors_edges
                        node.tensors_shapes = [tensor.shape for tensor in tensors]
                        node.dim = dim
                return wrap(_cat_kernels[type(tensors_arrays[0])](tensors_arrays, dim), node)
            except CALL_ERRORS as error:
                return failed(error, cat, locals())
        ''')


def test_a_list_of_optional_tensors(tmp_path):
    ops = """
        - func: index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
          family: indexing
          dispatch: {CPU: index}
    """
    derivatives = """
        - name: index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
          self: multiply(grad, indices)
          indices: non_differentiable
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/indexing.py", "index") == expected('''
        def index(input, indices):
            """index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"""
            if state.active_modes and intercepts(index, input, indices):
                return call(index, input, indices)
            try:
                if type(indices) is not list and not isinstance(indices, (list, tuple)):
                    raise NotATensor
                input_array = input._mt_array
                indices_arrays = [None if tensor is None else tensor._mt_array for tensor in indices]
                node = None
                if (edge := input._mt_edge) is not None and (state.grad_everywhere or thread.grad_enabled):
                    if (edge := edge or edge_of(input)) is not None:
                        node = nodes.IndexBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                        node._mt_saved = ([None if tensor is None else save(tensor) for tensor in indices],)
                return wrap(_index_kernels[type(input_array)](input_array, indices_arrays), node)
            except CALL_ERRORS as error:
                return failed(error, index, locals())
        ''')


def test_a_parameter_with_the_name_of_its_function(tmp_path):
    ops = """
        - func: pad(Tensor self, float pad) -> Tensor
          family: nn
          composite: pad
    """
    files = emit_project(tmp_path, ops)
    text = definition(files, "generated/ops/nn.py", "pad")
    assert "if state.active_modes and intercepts(_pad, input):\n        return call(_pad, input, pad)" in text
    assert definition(files, "generated/ops/nn.py", "_pad") == "_pad = pad\n"
