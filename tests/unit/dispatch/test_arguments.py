"""What is accepted as an argument, and torch's texts for what isn't."""

import numpy as np
import pytest

import mindtorch as torch


def message(function, *args, **kwargs):
    with pytest.raises(TypeError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


X = torch.zeros(2, 3)


class TestConversions:
    def test_ints(self):
        assert torch.transpose(X, torch.tensor(0), np.int64(1)).shape == (3, 2)

    def test_lists_of_ints(self):
        assert torch.reshape(X, [3, 2]).shape == torch.reshape(X, (torch.tensor(3), np.int32(2))).shape == (3, 2)
        assert X.reshape(3, 2).shape == X.reshape(torch.Size([3, 2])).shape == (3, 2)
        assert torch.sum(X, dim=1).shape == torch.sum(X, dim=(1,)).shape == (2,)

    def test_numbers(self):
        assert torch.add(X, X, alpha=torch.tensor(2)).shape == (2, 3)
        assert torch.add(X, np.float64(1)).dtype is torch.float32


class TestTensorExpected:
    @pytest.mark.parametrize(
        "value, shown",
        [
            (3, "int"), ("a", "str"), (None, "NoneType"), ([X], "list"), (np.zeros(2), "numpy.ndarray"),
            (torch.float32, "torch.dtype"), (torch.Size([1]), "torch.Size"), (torch.device("cpu"), "torch.device"),
        ],
    )  # fmt: skip
    def test_exp(self, value, shown):
        assert message(torch.exp, value) == f"exp(): argument 'input' (position 1) must be Tensor, not {shown}"

    def test_second_argument(self):
        assert message(torch.mm, X, 3) == "mm(): argument 'mat2' (position 2) must be Tensor, not int"
        assert message(torch.add, X, "a") == "add(): argument 'other' (position 2) must be Tensor, not str"

    def test_lists(self):
        assert message(torch.cat, 3) == "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not int"
        assert message(torch.cat, [X, 2]) == "expected Tensor as element 1 in argument 0, but got int"


class TestOtherTypes:
    def test_int(self):
        assert message(torch.transpose, X, 0, 1.5) == "transpose(): argument 'dim1' (position 3) must be int, not float"
        assert message(torch.transpose, X, True, 0) == "transpose(): argument 'dim0' (position 2) must be int, not bool"

    def test_ints(self):
        assert (
            message(torch.reshape, X, "x") == "reshape(): argument 'shape' (position 2) must be tuple of ints, not str"
        )

    def test_number(self):
        assert message(torch.add, X, X, alpha="s") == "add(): argument 'alpha' must be Number, not str"

    def test_factory_options(self):
        assert message(torch.zeros, 2, dtype="a") == "zeros(): argument 'dtype' must be torch.dtype, not str"
        assert message(torch.zeros, 2, layout=3) == "zeros(): argument 'layout' must be torch.layout, not int"
        assert message(torch.zeros, 2, device=1.5) == "zeros(): argument 'device' must be torch.device, not float"


class TestNoOverload:
    """The list of what would have been accepted, with a reason where torch gives one."""

    SUM = " * (Tensor input, *, torch.dtype dtype = None)\n"
    SUM_DIM = (
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)\n"
    )

    def explain(self, function, *args, **kwargs):
        return message(function, *args, **kwargs).split("expected one of:\n")

    def test_other_lengths_are_only_listed(self):
        got, expected = self.explain(torch.sum, X, "a")
        assert got == "sum() received an invalid combination of arguments - got (Tensor, str), but "
        assert expected == self.SUM + self.SUM_DIM

    def test_one_overload_of_the_right_length_is_meant(self):
        assert message(torch.sum, X, 1, 2) == "sum(): argument 'keepdim' (position 3) must be bool, not int"

    def test_types_are_marked_where_the_length_is_right(self):
        _, expected = self.explain(torch.lt, X, "a")
        assert expected == "".join(
            f" * (Tensor input, {kind} other, *, Tensor out = None)\n" for kind in ("Tensor", "Number")
        )
        _, expected = self.explain(torch.clamp_min_, X, "a")
        mark = "      didn't match because some of the arguments have invalid types: (Tensor, !str!)\n"
        assert expected == f" * (Tensor input, Tensor min)\n{mark} * (Tensor input, Number min)\n{mark}"

    def test_methods_leave_out_the_tensor(self):
        got, expected = self.explain(X.sum, "a")
        assert got.endswith("got (str), but ")
        assert expected == (
            " * (*, torch.dtype dtype = None)\n"
            " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
        )


class TestMethods:
    def test_positions_count_from_behind_the_dot(self):
        assert message(X.mm, 3) == "mm(): argument 'mat2' (position 1) must be Tensor, not int"
        assert message(X.transpose, 0, 1.5) == "transpose(): argument 'dim1' (position 2) must be int, not float"

    def test_overriding_functions_see_the_method(self):
        seen = []

        class Watching(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append(func)

        x = torch.zeros(2).as_subclass(Watching)
        seen.clear()
        x.add(1)
        x.sum(0)
        torch.add(x, 1)
        assert seen == [torch.Tensor.add, torch.Tensor.sum, torch.add]


class TestElementsOfTuples:
    """Tuples go to the kernels as they are; what those choke on is explained afterwards."""

    @pytest.mark.parametrize("call", [X.reshape, X.view, torch.zeros, X.repeat])
    def test_later_elements(self, call):
        assert message(call, (2, 1.5)).endswith('at pos 2 with error "type must be tuple of ints,but got float"')

    def test_an_error_that_has_another_reason_stays(self):
        with pytest.raises(RuntimeError, match="is invalid for input of size"):
            X.reshape((4, 4))
