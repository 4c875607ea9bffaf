"""Pictures of graphs: everything is in them, once, and under the right name."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

import mindtorch as torch
from mindtorch import nn
from mindtorch.autograd.graph import saved_tensors_hooks
from mindtorch.utils.graph import draw

SVG = "{http://www.w3.org/2000/svg}"


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def one_op():
    x = leaf(3)
    return draw(x * x.exp(), {"x": x}, saved=True)


def perceptron():
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
    target = torch.zeros(8, dtype=torch.int64)
    loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), target)
    return draw({"loss": loss}, dict(model.named_parameters()), saved=True, attributes=True)


def attention():
    q, k, v = nn.Linear(8, 24)(nn.LayerNorm(8)(leaf(2, 5, 8))).split(8, dim=2)
    return draw((q @ k.transpose(1, 2)).softmax(-1) @ v)


def recurrent(steps=20):
    weight, bias, state = leaf(8, 8), leaf(8), torch.zeros(2, 8)
    states = []
    for _ in range(steps):
        state = torch.tanh(state @ weight + bias)
        states.append(state)
    return draw([state, torch.stack(states).sum()], {"weight": weight, "bias": bias})


def written_view():
    base, factor = leaf(4, 4) * 2, leaf(4)
    view = base[0]
    view.mul_(factor)
    upper, lower = base.split(2)
    return draw({"sum": (view * upper[1]).sum() + lower.sum(), "view": view}, {"p": factor}, saved=True)


def many_inputs():
    return draw(torch.cat([leaf(1) for _ in range(60)]))


def only_a_leaf():
    return draw(leaf(2))


DRAWINGS = [one_op, perceptron, attention, recurrent, written_view, many_inputs, only_a_leaf]


@pytest.fixture(params=DRAWINGS, ids=lambda make: make.__name__)
def drawing(request):
    return request.param()


def boxes(svg):
    """The groups of the boxes, by key."""
    groups = ElementTree.fromstring(svg).iter(f"{SVG}g")
    return {group.get("data-key"): group for group in groups if group.get("data-key")}


def lines(svg):
    """What every box says, by key."""
    return {key: [text.text for text in group.iter(f"{SVG}text")] for key, group in boxes(svg).items()}


def said(svg):
    return [line for texts in lines(svg).values() for line in texts]


def graph_of(tensors):
    """How many nodes there are, and how many pairs of a node and one that it gets results of, by `next_functions`."""
    nodes, waiting = set(), [tensor.grad_fn for tensor in tensors]
    pairs = Counter()
    while waiting:
        node = waiting.pop()
        if node not in nodes:
            nodes.add(node)
            following = {each for each, _ in node.next_functions if each is not None}
            pairs[node] = len(following)
            waiting += following
    return len(nodes), pairs.total()


def test_all_boxes_and_arrows_are_in_both_forms(drawing):
    keys = {box.key for box in drawing.picture.boxes}
    arrows = sorted((arrow.source, arrow.target) for arrow in drawing.picture.arrows)
    groups = ElementTree.fromstring(drawing.svg).iter(f"{SVG}g")
    drawn = sorted((each.get("data-from"), each.get("data-to")) for each in groups if each.get("class") == "arrow")
    assert set(boxes(drawing.svg)) == keys and drawn == arrows
    assert set(re.findall(r"^  (\w+) \[label=", drawing.dot, re.MULTILINE)) == keys
    assert sorted(re.findall(r"^  (\w+) -> (\w+)", drawing.dot, re.MULTILINE)) == arrows


def test_every_node_of_the_graph_has_a_box_and_every_edge_an_arrow():
    x = leaf(3)
    y = (x * x.exp()).sum() + (x * x).sum() + torch.ones(3).sum()
    picture = draw([y, y * 2], {"x": x}).picture
    nodes, pairs = graph_of([y, y * 2])
    assert len(picture.boxes) == nodes + 2 and len(picture.arrows) == pairs + 2


def test_a_shared_node_is_drawn_once():
    x = leaf(3)
    shared = x.exp()
    titles = Counter(box.title for box in draw(shared.sin() + shared.cos(), {"x": x}).picture.boxes)
    assert titles["ExpBackward0"] == titles["x"] == 1


def test_an_input_that_is_used_twice_has_one_arrow_that_says_so():
    x = leaf(3)
    arrow, _ = draw(x * x).picture.arrows
    assert (arrow.label, arrow.tip) == ("×2", "the input 2 times")


def test_the_outputs_of_a_node_are_told_apart():
    first, second = leaf(4).split(2)
    picture = draw(first * second).picture
    (source,) = [box for box in picture.boxes if box.title == "SplitBackward0"]
    assert source.facts == ("0: float32 [2]", "1: float32 [2]")
    (arrow,) = [arrow for arrow in picture.arrows if arrow.source == source.key]
    assert (arrow.label, arrow.tip) == ("0, 1", "output 0, 1 of SplitBackward0")


def test_many_outputs_are_counted():
    (box,) = [box for box in draw(leaf(9).unbind()[0]).picture.boxes if box.title == "UnbindBackward0"]
    assert box.facts[-2:] == ("3: float32 []", "... 9 outputs")


def test_leaves_and_results_have_their_names():
    weight = leaf(2, 2)
    hidden = weight.exp()
    texts = lines(draw(hidden.sum(), {"weight": weight, "hidden": hidden, "data": torch.ones(1)}).svg).values()
    assert ["weight", "float32 [2, 2]", "AccumulateGrad"] in texts
    assert ["ExpBackward0", "float32 [2, 2] = hidden"] in texts


def test_a_leaf_says_whether_it_has_a_gradient():
    x = leaf(2)
    y = x.exp().sum()
    assert "x: no gradient yet" in draw(y, {"x": x}).svg
    y.backward(retain_graph=True)
    assert "x: has a gradient, float32 [2]" in draw(y, {"x": x}).svg


def test_a_leaf_that_the_program_has_let_go_is_drawn():
    assert ["leaf", "float32 [3]", "AccumulateGrad"] in lines(draw(leaf(3).exp()).svg).values()


def test_nothing_that_is_kept_is_shown_unless_asked_for():
    assert not [box for box in draw(leaf(2).exp().sum(dim=0)).picture.boxes if box.kept]


def test_saved_tensors_and_attributes():
    x = leaf(2)
    y = torch.add(x * x.exp(), 3, alpha=2)
    assert {"other: float32 [2]", "self: float32 [2] = x", "result: float32 [2]"} <= set(
        said(draw(y, {"x": x}, saved=True).svg)
    )
    assert "alpha = 2" in said(draw(y, attributes=True).svg)


def test_drawing_leaves_the_graph_as_it_is():
    x = leaf(2)
    y = (x.exp() * x).sum()
    draw(y, {"x": x}, saved=True, attributes=True)
    y.backward()
    assert x.grad.tolist() == (x.exp() * (1 + x)).tolist()


def test_a_freed_graph_is_drawn():
    x = leaf(2)
    y = x.exp()
    y.sum().backward()
    assert "saved tensors: freed" in said(draw(y, saved=True).svg)


def test_tensors_behind_hooks_are_not_unpacked():
    def refuse(packed):
        raise AssertionError("unpacked")

    with saved_tensors_hooks(lambda tensor: tensor.shape, refuse):
        y = leaf(2).exp()
    assert "result: packed by a hook, as Size" in said(draw(y, saved=True).svg)


def test_a_tensor_that_was_written_since_is_drawn():
    x = leaf(2)
    factor = x * 1
    y = factor * x
    factor.add_(1)
    assert "self: float32 [2]" in said(draw(y, saved=True).svg)


def test_a_write_to_a_view_names_the_op():
    assert "a view, written by MulBackward0" in said(written_view().svg)


def test_a_function_of_the_user():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            ctx.saved = x  # a name of the user's own
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    assert ["DoubleBackward", "float32 [2]", "saved_tensors[0]: float32 [2]"] in lines(
        draw(Double.apply(leaf(2)), saved=True).svg
    ).values()


HOSTILE = "a\"b\\c<d>&'e\n\x00]]>\ud800"


def test_names_are_escaped():
    x = leaf(2)
    drawing = draw({HOSTILE: x.exp()}, {HOSTILE: x})
    shown = "a\"b\\c<d>&'e\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}]]>\N{REPLACEMENT CHARACTER}"
    assert said(drawing.svg).count(shown) == 2
    assert drawing.dot.count(r"a\"b\\c<d>&'e") == 3  # twice as the label, once in a tooltip
    drawing.svg.encode(), drawing.dot.encode()


def test_long_lines_are_cut_and_the_tooltip_has_them():
    name = "encoder." * 20
    drawing = draw({name: leaf(1).exp()})
    assert max(map(len, said(drawing.svg))) == 44
    assert f"<title>{name}" in drawing.svg


@pytest.mark.parametrize(
    ("outputs", "error", "text"),
    [
        (torch.ones(2), ValueError, "draw(): output has no graph. It must be computed, with gradients enabled, from"),
        ({"loss": 3.0}, TypeError, "draw(): loss must be a Tensor, not float"),
        ([leaf(1), torch.ones(1)], ValueError, "draw(): output 1 has no graph."),
        ([], ValueError, "draw(): there is nothing to draw: no outputs were given"),
        (None, TypeError, "draw(): output must be a Tensor, not NoneType"),
    ],
)
def test_what_cannot_be_drawn(outputs, error, text):
    with pytest.raises(error, match=re.escape(text)):
        draw(outputs)


def test_forms(tmp_path):
    drawing = one_op()
    for name in ("y.svg", "y.SVG", "y.dot", "y.gv"):
        drawing.save(tmp_path / name)
        expected = drawing.svg if name.lower().endswith("svg") else drawing.dot
        assert (tmp_path / name).read_text(encoding="utf-8") == expected
    assert drawing._repr_svg_() is drawing.svg
    assert repr(drawing) == "<Drawing of 4 boxes and 4 arrows>"
    with pytest.raises(ValueError, match=r"cannot save a graph as 'y.png': the name must end in .svg, .dot or .gv"):
        drawing.save("y.png")
