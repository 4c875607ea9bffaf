# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""Factories, composites and ops whose result is no tensor: the exact text of their functions."""

from tests.codegen.emitted import definition, emit_project, expected


def test_factory(tmp_path):
    ops = """
        - func: zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
          family: factory
          out: zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
          factory: true
          dispatch: {CPU: zeros}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/factory.py", "zeros") == expected('''
        def zeros(size=..., *more_size, dtype=None, layout=None, device=None, pin_memory=False, out=None, requires_grad=False):
            """zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""
            if state.active_modes and intercepts(zeros):
                return call_with(zeros, locals())
            if out is not None:
                check_out_options(out, dtype, layout, device, requires_grad, "zeros")
                return flagged(zeros_out(size, *more_size, out=out), requires_grad)
            try:
                if type(size) is int:
                    size, more_size = (size,) + more_size, ()
                elif more_size or type(size) is not tuple:
                    size = separate_ints_of(size, more_size, True, "zeros", "size", 1)
                dtype, backend = factory_options(dtype, layout, device, pin_memory, "zeros")
                result = wrap(_zeros_kernels[backend](size, dtype, layout, device, pin_memory))
                if requires_grad is not False:
                    mark_leaf(result, requires_grad, "zeros")
                return result
            except CALL_ERRORS as error:
                return failed(error, zeros, locals())
        ''')
    assert definition(files, "generated/ops/factory.py", "zeros_out") == expected('''
        def zeros_out(size, *more_size, out):
            """zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)"""
            if state.active_modes and intercepts(zeros_out, out):
                return call(zeros_out, size, *more_size, out=out)
            try:
                if type(size) is int:
                    size, more_size = (size,) + more_size, ()
                elif more_size or type(size) is not tuple:
                    size = separate_ints_of(size, more_size, True, "zeros", "size", 1)
                out_array = out._mt_array
                if out._mt_edge is not None:
                    refuse_unwritable("aten::zeros", (out,))
                adopt_result(out, _zeros_kernels[type(out_array)](size, None, None, None, None, out=out_array))
                if out._mt_edge is not None:
                    record_refusal("aten::zeros", (out,))
                return out
            except CALL_ERRORS as error:
                return failed(error, zeros_out, locals())
        ''')


def test_factory_with_a_generator(tmp_path):
    ops = """
        - func: rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
          family: random
          factory: true
          composite: rand

        - func: rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
          family: random
          python: hidden
          factory: true
          composite: rand_generator
    """
    source = """
        def rand(size, dtype, layout, device, pin_memory):
            return size


        def rand_generator(size, generator, dtype, layout, device, pin_memory):
            return size
    """
    files = emit_project(tmp_path, ops, mindtorch__composite__random=source)
    assert definition(files, "generated/ops/random.py", "rand") == expected('''
        def rand(
            size=..., *more_size, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
        ):
            """rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""
            if state.active_modes and intercepts(rand):
                return call_with(rand, locals())
            if generator is not None:
                return rand_generator(
                    size,
                    *more_size,
                    generator=generator,
                    dtype=dtype,
                    layout=layout,
                    device=device,
                    pin_memory=pin_memory,
                    requires_grad=requires_grad,
                )
            try:
                dtype = dtype if dtype is None or type(dtype) is Dtype else dtype_of(dtype, "rand", "dtype")
                if layout is not None or device is not None or pin_memory is not False:
                    check_options(layout, device, pin_memory, "rand")
                if type(size) is int:
                    size, more_size = (size,) + more_size, ()
                elif more_size or type(size) is not tuple:
                    size = separate_ints_of(size, more_size, True, "rand", "size", 1)
                result = composite.rand(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
                if pin_memory or requires_grad is not False:
                    return with_options(result, pin_memory, requires_grad, "rand")
                return result
            except CALL_ERRORS as error:
                return failed(error, rand, locals())
        ''')


def test_result_that_is_no_tensor(tmp_path):
    ops = """
        - func: sparse_dim(Tensor self) -> int
          family: sparse
          variants: method
          dispatch: {SparseCPU: sparse_dim}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/sparse.py", "sparse_dim") == expected('''
        def sparse_dim(input):
            """sparse_dim(Tensor self) -> int"""
            if state.active_modes and intercepts(sparse_dim, input):
                return call(sparse_dim, input)
            try:
                input_array = input._mt_array
                return _sparse_dim_kernels[type(input_array)](input_array)
            except CALL_ERRORS as error:
                return failed(error, sparse_dim, locals())
        ''')


def test_composite(tmp_path):
    ops = """
        - func: square(Tensor self) -> Tensor
          family: pointwise
          autogen: inplace, out
          composite: square
    """
    source = """
        def square(input):
            return input * input
    """
    files = emit_project(tmp_path, ops, mindtorch__composite__pointwise=source)
    assert definition(files, "generated/ops/pointwise.py", "square") == expected('''
        def square(input, *, out=None):
            """square(Tensor self) -> Tensor"""
            if state.active_modes and intercepts(square, input, out):
                return call(square, input, out=out)
            if not isinstance(input, Tensor):
                return raise_bad_argument(square, input, out=out)
            if out is not None:  # square.out
                if IS_METHOD or not isinstance(out, Tensor):
                    return raise_bad_argument(square, input, out=out)
                if not (input._mt_edge is out._mt_edge is None):
                    refuse_grad("square", input, out)
                return write_out(out, composite.square(input))
            return composite.square(input)
        ''')
    assert definition(files, "generated/ops/pointwise.py", "square_") == expected('''
        def square_(input):
            """square_(Tensor(a!) self) -> Tensor(a!)"""
            if state.active_modes and intercepts(square_, input):
                return call(square_, input)
            if not isinstance(input, Tensor):
                return raise_bad_argument(square_, input)
            return write_back(input, composite.square(input))
        ''')
    assert definition(files, "generated/ops/pointwise.py", "square_out") == "square_out = out_form(square)\n"


def test_composite_with_an_in_place_function_of_its_own(tmp_path):
    ops = """
        - func: square(Tensor self) -> Tensor
          family: pointwise
          autogen: inplace, out
          composite: square
    """
    source = """
        def square(input):
            return input * input


        def square_(input):
            return input.mul_(input)
    """
    files = emit_project(tmp_path, ops, mindtorch__composite__pointwise=source)
    assert definition(files, "generated/ops/pointwise.py", "square_") == expected('''
        def square_(input):
            """square_(Tensor(a!) self) -> Tensor(a!)"""
            if state.active_modes and intercepts(square_, input):
                return call(square_, input)
            if not isinstance(input, Tensor):
                return raise_bad_argument(square_, input)
            return composite.square_(input)
        ''')


def test_composite_that_is_still_to_be_written(tmp_path):
    ops = """
        - func: square(Tensor self) -> Tensor
          family: pointwise
          autogen: inplace, out
          composite: square
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/pointwise.py", "square") == expected('''
        def square(input, *, out=None):
            """square(Tensor self) -> Tensor"""
            if state.active_modes and intercepts(square, input):
                return call(square, input, out=out)
            if out is not None:
                return square_out(input, out=out)
            if not isinstance(input, Tensor):
                return raise_bad_argument(square, input, out=out)
            raise missing_kernel("square", "composite", "square(input)", "mindtorch/composite/pointwise.py")
        ''')
