"""`x[index]` and `x[index] = value`: what is a view, what is a copy, and what is refused."""

import numpy as np
import pytest

import mindtorch as torch


@pytest.fixture
def x():
    return torch.arange(12.0).reshape(3, 4).clone()


class TestViews:
    @pytest.mark.parametrize(
        ("index", "shape", "stride", "offset"),
        [
            (1, (4,), (1,), 4),
            (-1, (4,), (1,), 8),
            ((1, 2), (), (), 6),
            (slice(1, None), (2, 4), (4, 1), 4),
            ((slice(None), slice(0, 4, 2)), (3, 2), (4, 2), 0),
            ((Ellipsis, 0), (3,), (4,), 0),
            (None, (1, 3, 4), (12, 4, 1), 0),
            ((slice(None), None, 1), (3, 1), (4, 4), 1),
            ((), (3, 4), (4, 1), 0),
            (np.int64(2), (4,), (1,), 8),
        ],
    )
    def test_plain_parts_share_memory(self, x, index, shape, stride, offset):
        part = x[index]
        assert tuple(part.shape) == shape and part.stride() == stride and part.storage_offset() == offset
        assert part._base is x
        part.zero_()
        assert x[index].sum().item() == 0

    def test_zero_dim_integer_tensor_is_a_number(self, x):
        assert x[torch.tensor(1)]._base is x

    def test_views_follow_their_base_into_the_graph(self, x):
        row = x[0]
        x.mul_(torch.ones(4, requires_grad=True))
        assert row.requires_grad and row.grad_fn is not None


class TestCopies:
    @pytest.mark.parametrize(
        ("index", "expected"),
        [
            ([0, 2], [[0, 1, 2, 3], [8, 9, 10, 11]]),
            (([0, 2], [1, -1]), [1, 11]),
            ((slice(1, None), [0, 3]), [[4, 7], [8, 11]]),
            ([True, False, True], [[0, 1, 2, 3], [8, 9, 10, 11]]),
            (np.array([[1], [0]]), [[[4, 5, 6, 7]], [[0, 1, 2, 3]]]),
            ([], []),
        ],
    )
    def test_lists_and_arrays(self, x, index, expected):
        picked = x[index]
        assert picked.tolist() == expected and picked._base is None

    def test_mask(self, x):
        assert x[x > 9].tolist() == [10, 11]

    def test_indices_with_a_slice_between_come_first(self):
        y = torch.zeros(3, 4, 5)
        assert tuple(y[[0, 1], :, [0, 1]].shape) == (2, 4)
        assert tuple(y[:, [0, 1], [0, 1]].shape) == (3, 2)

    @pytest.mark.parametrize(("flag", "extent"), [(True, 1), (False, 0)])
    def test_bool_adds_a_dimension(self, x, flag, extent):
        assert tuple(x[flag].shape) == (extent, 3, 4)


class TestAssignment:
    @pytest.mark.parametrize("index", [0, (0, 1), slice(1), [0, 2], (Ellipsis, 0), None, (), ([0, 1], [2, 3])])
    def test_number(self, x, index):
        expected = x.numpy().copy()
        expected[index] = 7
        x[index] = 7
        assert x.tolist() == expected.tolist()

    def test_mask_takes_a_number_of_any_dtype(self, x):
        x[x > 9] = torch.tensor(3)
        assert x.max().item() == 9

    def test_leading_ones_of_the_value_do_not_count(self, x):
        x[0] = torch.ones(1, 1, 4)
        x[[1, 2]] = torch.ones(1, 2, 4)
        assert x.sum().item() == 12

    def test_augmented(self, x):
        x[[0, 0]] += 1
        assert x[0].tolist() == [1, 2, 3, 4]

    def test_counts_one_write(self, x):
        x[0] = 1
        assert x._version == 1

    def test_gradient_goes_around_what_was_overwritten(self):
        a = torch.ones(3, requires_grad=True)
        b = a * 2
        b[0] = 5
        b.sum().backward()
        assert a.grad.tolist() == [0, 2, 2]


class TestErrors:
    @pytest.mark.parametrize(
        ("index", "error", "message"),
        [
            (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
            ((0, -5), IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
            ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
            ([5], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
            (slice(None, None, -1), ValueError, "step must be greater than zero"),
            (slice(None, None, 0), ValueError, "slice step cannot be zero"),
            (slice(1.5, None), TypeError, "slice indices must be integers or None or have an __index__ method"),
            ("a", TypeError, "new(): invalid data type 'str'"),
            ([0.5], IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        ],
    )
    def test_read(self, x, index, error, message):
        with pytest.raises(error) as raised:
            x[index]
        assert str(raised.value) == message

    def test_zero_dim(self):
        with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
            torch.tensor(1.0)[0]

    def test_mask_of_another_shape(self, x):
        with pytest.raises(IndexError, match="The shape of the mask .* at index 0 does not match"):
            x[torch.zeros(2, dtype=torch.bool)]

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ([1.0], "can't assign a list to a torch.FloatTensor"),
            (None, "can't assign a NoneType to a torch.FloatTensor"),
        ],
    )
    def test_assigned_value(self, x, value, message):
        with pytest.raises(TypeError) as raised:
            x[0] = value
        assert str(raised.value) == message
