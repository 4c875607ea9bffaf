# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""generated/nodes and generated/forward_ad: from formulas to code."""

from tests.codegen.emitted import definition, emit_project, expected


def test_two_gradients(tmp_path):
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
    assert definition(files, "generated/nodes/pointwise.py", "MulBackward0") == expected("""
        class MulBackward0(Node):
            schema = "mul.Tensor(Tensor self, Tensor other) -> Tensor"

            __slots__ = ()

            saved = ("other", "self")

            saved_for = (0, 1)

            def apply(node, edges, grad):
                other, self = node.unpack()
                if grad is None:
                    return (None, None)
                return (grad * other if edges[0] else None, grad * self if edges[1] else None)
        """)
    assert definition(files, "generated/forward_ad/pointwise.py", "mul") == expected('''
        def mul(result, arguments, tangents):
            """mul.Tensor(Tensor self, Tensor other) -> Tensor"""
            input, other = arguments
            input_t, other_t = tangents
            if input_t is None:
                input_t = ZERO
            if other_t is None:
                other_t = ZERO
            return input_t * other + other_t * input
        ''')


def test_a_conditional_formula_stays_one(tmp_path):
    ops = """
        - func: join(Tensor self, Tensor other, *, int factor) -> Tensor
          family: pointwise
          dispatch: {CPU: join}
    """
    derivatives = """
        - name: join(Tensor self, Tensor other, *, int factor) -> Tensor
          self: grad
          other: grad if factor == 1 else grad * factor
          result: self_t + other_t * factor
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/nodes/pointwise.py", "JoinBackward0") == expected("""
        class JoinBackward0(Node):
            schema = "join(Tensor self, Tensor other, *, int factor) -> Tensor"

            __slots__ = ("factor",)

            def apply(node, edges, grad):
                if grad is None:
                    return (None, None)
                return (grad if edges[0] else None, (grad if node.factor == 1 else grad * node.factor) if edges[1] else None)
        """)


def test_saved_result_and_elementwise_tangent(tmp_path):
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
    assert definition(files, "generated/nodes/pointwise.py", "ExpBackward0") == expected("""
        class ExpBackward0(Node):
            schema = "exp(Tensor self) -> Tensor"

            __slots__ = ()

            saved = ("result",)

            def apply(node, edges, grad):
                (result,) = node.unpack()
                if grad is None:
                    return (None,)
                return (grad * result,)
        """)
    assert definition(files, "generated/forward_ad/pointwise.py", "exp") == expected('''
        def exp(result, arguments, tangents):
            """exp(Tensor self) -> Tensor"""
            (input_t,) = tangents
            grad = conj(input_t)
            return conj(grad * result)
        ''')


def test_saved_facts_and_numbers(tmp_path):
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
    assert definition(files, "generated/nodes/pointwise.py", "ScaleBackward0") == expected("""
        class ScaleBackward0(Node):
            schema = "scale(Tensor self, Tensor? weight=None, Scalar factor=1, *, int[2] padding=0, int? step=None) -> Tensor"

            __slots__ = ("factor", "weight_shape")

            facts = {"weight_shape": "weight_sym_sizes"}

            saved = ("self", "weight")

            saved_for = (1, 0)

            def apply(node, edges, grad):
                self, weight = node.unpack()
                if grad is None:
                    return (None, None)
                return (
                    multiply(grad, weight) * node.factor if edges[0] else None,
                    multiply(grad, self).reshape(node.weight_shape) * node.factor if edges[1] else None,
                )
        """)


def test_output_without_gradient(tmp_path):
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
    assert definition(files, "generated/nodes/reduction.py", "MaxBackward0") == expected("""
        class MaxBackward0(Node):
            schema = "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"

            __slots__ = ("dim", "self_shape")

            facts = {"self_shape": "self_sym_sizes"}

            saved = ("indices",)

            def apply(node, edges, grad):
                (indices,) = node.unpack()
                if grad is None:
                    return (None,)
                return (multiply(grad, indices) + node.dim + node.self_shape[0],)
        """)
    assert definition(files, "generated/forward_ad/reduction.py", "max") == expected('''
        def max(result, arguments, tangents):
            """max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""
            input_t, _, _ = tangents
            return (multiply(input_t, result[1]), None)
        ''')


def test_several_outputs_and_one_formula(tmp_path):
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
    assert definition(files, "generated/nodes/nn.py", "NormGradsBackward0") == expected("""
        class NormGradsBackward0(Node):
            schema = "norm_grads(Tensor self, Tensor other, bool[2] output_mask) -> (Tensor, Tensor)"

            __slots__ = ()

            def apply(node, edges, *grads):
                if all([grad is None for grad in grads]):
                    return (None, None)
                return multiply(grads[0], grads[1], bool(edges[0]))
        """)


def test_list_of_tensors(tmp_path):
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
    assert definition(files, "generated/nodes/indexing.py", "CatBackward0") == expected("""
        class CatBackward0(Node):
            schema = "cat(Tensor[] tensors, int dim=0) -> Tensor"

            __slots__ = ("tensors_shapes", "dim")

            facts = {"tensors_shapes": None}

            def apply(node, edges, grad):
                if grad is None:
                    return (None,) * len(edges)
                tensors_grad = grad.split(node.tensors_shapes, node.dim)
                return (*tensors_grad,)
        """)
    assert definition(files, "generated/forward_ad/indexing.py", "cat") == expected('''
        def cat(result, arguments, tangents):
            """cat(Tensor[] tensors, int dim=0) -> Tensor"""
            _, dim = arguments
            tensors_t, _ = tangents
            return functions.cat(tensors_t, dim)
        ''')


def test_list_of_saved_tensors(tmp_path):
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
    assert definition(files, "generated/nodes/indexing.py", "IndexBackward0") == expected("""
        class IndexBackward0(Node):
            schema = "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"

            __slots__ = ()

            saved = ("indices",)

            def apply(node, edges, grad):
                (indices,) = node.unpack()
                if grad is None:
                    return (None,)
                return (multiply(grad, indices),)
        """)


def test_outputs_in_a_list(tmp_path):
    ops = """
        - func: unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
          family: view
          variants: function, method
          view: multi
          dispatch: {CPU: unbind}
    """
    derivatives = """
        - name: unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
          self: multiply(grads, dim)
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/nodes/view.py", "UnbindBackward0") == expected("""
        class UnbindBackward0(Node):
            schema = "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"

            __slots__ = ("dim",)

            def apply(node, edges, *grads):
                if all([grad is None for grad in grads]):
                    return (None,)
                return (multiply(grads, node.dim),)
        """)


def test_not_implemented(tmp_path):
    ops = """
        - func: uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)
          family: random
          variants: method
          dispatch: {CPU: uniform}
    """
    derivatives = """
        - name: uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)
          self: not_implemented
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert "generated/nodes/random.py" not in files  # the node is the one that refuses every backward pass
    assert 'node.op = "aten::uniform_"' in definition(files, "generated/ops/random.py", "uniform_")


def test_not_implemented_for_one_argument(tmp_path):
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
          other: not_implemented
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/nodes/pointwise.py", "MulBackward0") == expected("""
        class MulBackward0(Node):
            schema = "mul.Tensor(Tensor self, Tensor other) -> Tensor"

            __slots__ = ()

            saved = ("other",)

            saved_for = (0,)

            def apply(node, edges, grad):
                (other,) = node.unpack()
                if grad is None:
                    return (None, None)
                self_grad = grad * other if edges[0] else None
                if edges[1]:
                    raise derivative_not_implemented("mul: other")
                other_grad = None
                return (self_grad, other_grad)
        """)
