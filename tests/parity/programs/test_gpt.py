"""The transformer of the examples takes the same steps in mindtorch as in PyTorch, and writes the same text."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the examples extra")

from tests.parity.programs.example_programs import EXAMPLES, example_with  # noqa: E402  (after the check)


def trained_with(library, steps=30):
    """The losses of a short training from a fixed seed, and some text from the model that comes out."""
    example = example_with(library, "gpt")
    example.torch.manual_seed(0)
    text = example.Text((EXAMPLES / "data" / "moby_dick.txt").read_text())
    model = example.CharacterModel(len(text.characters), example.Sizes())
    losses = example.train(model, text.numbers, steps, batch_size=16, learning_rate=3e-3, quiet=True)
    return losses, text.decode(model.write(text.encode("The whale "), 20))


def test_losses_and_text():
    (ours, our_text), (theirs, their_text) = trained_with("mindtorch"), trained_with("torch")
    assert len(ours) == 30
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    assert our_text == their_text


def test_example_runs(tmp_path, capsys):
    example = example_with("mindtorch", "gpt")
    assert example.main(["--steps", "25", "--batch-size", "4", "--length", "20", "--output", str(tmp_path)]) == 0
    assert (tmp_path / "gpt.png").stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert float(printed.partition("rest of the book: ")[2].split()[0]) < 4.0
    assert "The whale " in printed
