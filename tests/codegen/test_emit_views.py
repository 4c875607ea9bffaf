# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""Views and the ops that write: the exact text of their functions."""

from tests.codegen.emitted import definition, emit_project, expected


def test_view_with_separate_ints(tmp_path):
    ops = """
        - func: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
          family: view
          variants: method
          view: single
          dispatch: {CPU: view}
    """
    derivatives = """
        - name: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
          self: grad.reshape(self.shape)
          result: auto_linear
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/view.py", "view") == expected('''
        def view(input=..., size=..., *more_size):
            """view(Tensor(a) self, SymInt[] size) -> Tensor(a)"""
            if state.active_modes and intercepts(view, input):
                return call(view, input, size, *more_size)
            try:
                if type(size) is int:
                    size, more_size = (size,) + more_size, ()
                elif more_size or type(size) is not tuple:
                    size = separate_ints_of(size, more_size, True, "view", "size", 2)
                input_array = input._mt_array
                node = None
                if (edge := input._mt_edge) is not None and (state.grad_everywhere or thread.grad_enabled):
                    if (edge := edge or edge_of(input)) is not None:
                        node = nodes.ViewBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                        node.self_shape = input_array.shape
                return view_of(input, _view_kernels[type(input_array)](input_array, size), node, (view, (size,)))
            except CALL_ERRORS as error:
                return failed(error, view, locals())
        ''')


def test_in_place_view(tmp_path):
    ops = """
        - func: t(Tensor(a) self) -> Tensor(a)
          family: view
          variants: function, method
          inplace: t_(Tensor(a!) self) -> Tensor(a!)
          view: single
          dispatch: {CPU: t}
    """
    derivatives = """
        - name: t(Tensor(a) self) -> Tensor(a)
          self: grad.t()
          result: auto_linear
    """
    files = emit_project(tmp_path, ops, derivatives)
    assert definition(files, "generated/ops/view.py", "t_") == expected('''
        def t_(input):
            """t_(Tensor(a!) self) -> Tensor(a!)"""
            if state.active_modes and intercepts(t_, input):
                return call(t_, input)
            try:
                input_array = input._mt_array
                node = None
                if (state.grad_everywhere or thread.grad_enabled) and (edge := input._mt_edge) is not None:
                    if (edge := edge or edge_of(input)) is not None:
                        check_inplace(input)
                        node = nodes.TBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                set_array(input, _t_kernels[type(input_array)](input_array))
                mark_written(input)
                if node is not None:
                    set_history(input, node)
                return input
            except CALL_ERRORS as error:
                return failed(error, t_, locals())
        ''')


def test_several_views(tmp_path):
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
    assert definition(files, "generated/ops/view.py", "unbind") == expected('''
        def unbind(input, dim=0, *, axis=None):
            """unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"""
            if axis is not None:
                dim = axis
            if state.active_modes and intercepts(unbind, input):
                return call(unbind, input, dim)
            try:
                dim = dim if type(dim) is int else int_of(dim, "unbind", "dim", 2)
                input_array = input._mt_array
                node = None
                if (edge := input._mt_edge) is not None and (state.grad_everywhere or thread.grad_enabled):
                    if (edge := edge or edge_of(input)) is not None:
                        node = nodes.UnbindBackward0()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                        node.dim = dim
                return view_outputs(input, _unbind_kernels[type(input_array)](input_array, dim), node, (unbind, (dim,)))
            except CALL_ERRORS as error:
                return failed(error, unbind, locals())
        ''')


def test_detach(tmp_path):
    ops = """
        - func: detach(Tensor(a) self) -> Tensor(a)
          family: view
          variants: function, method
          inplace: detach_(Tensor(a!) self) -> Tensor(a!)
          view: detach
          dispatch: {CPU: detach}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/view.py", "detach") == expected('''
        def detach(input):
            """detach(Tensor(a) self) -> Tensor(a)"""
            if state.active_modes and intercepts(detach, input):
                return call(detach, input)
            try:
                input_array = input._mt_array
                return detached(input, _detach_kernels[type(input_array)](input_array))
            except CALL_ERRORS as error:
                return failed(error, detach, locals())
        ''')
    assert definition(files, "generated/ops/view.py", "detach_") == expected('''
        def detach_(input):
            """detach_(Tensor(a!) self) -> Tensor(a!)"""
            if state.active_modes and intercepts(detach_, input):
                return call(detach_, input)
            return input.detach_()
        ''')


def test_op_that_only_writes(tmp_path):
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
    assert definition(files, "generated/ops/random.py", "uniform_") == expected('''
        def uniform_(input, from_=0.0, to=1.0, *, generator=None):
            """uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)"""
            if state.active_modes and intercepts(uniform_, input):
                return call(uniform_, input, from_, to, generator=generator)
            try:
                from_ = from_ if type(from_) is float else float_of(from_, "uniform_", "from", 2)
                to = to if type(to) is float else float_of(to, "uniform_", "to", 3)
                generator = generator if generator is None else generator_of(generator, "uniform_", "generator")
                input_array = input._mt_array
                node = None
                if (state.grad_everywhere or thread.grad_enabled) and (edge := input._mt_edge) is not None:
                    if (edge := edge or edge_of(input)) is not None:
                        check_inplace(input)
                        node = RefusingNode()
                        node.sequence_nr = next_sequence_nr()
                        node.next_edges = (edge or None,)
                        node.op = "aten::uniform_"
                _uniform__kernels[type(input_array)](input_array, from_, to, generator)
                return written(input, node)
            except CALL_ERRORS as error:
                return failed(error, uniform_, locals())
        ''')
