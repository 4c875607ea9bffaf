"""The digits example takes the same steps in mindtorch as in PyTorch, with nothing changed but the import."""

import numpy as np
import pytest

from tests.parity.programs.example_programs import example_with

pytest.importorskip("sklearn", reason="needs the examples extra")
pytest.importorskip("matplotlib", reason="needs the examples extra")


def losses_with(library, epochs=3):
    """The losses of a short training from a fixed seed: initial values, order and dropout all follow from it."""
    example = example_with(library, "digits")
    example.torch.manual_seed(0)
    train_loader, test_loader = example.loaders_of(*example.load_data(), batch_size=64)
    model = example.DigitNet()
    return example.train(model, train_loader, test_loader, epochs, learning_rate=0.05, quiet=True).losses


def test_loss_curve():
    ours, theirs = losses_with("mindtorch"), losses_with("torch")
    assert len(ours) == len(theirs) >= 50
    bounds = 1e-5 * 1.12 ** np.arange(50)  # each step of the training makes the rounding errors before it larger
    assert (np.abs(np.subtract(ours[:50], theirs[:50])) <= bounds).all()


def test_example_learns(tmp_path, capsys):
    example = example_with("mindtorch", "digits")
    assert example.main(["--epochs", "8", "--output", str(tmp_path)]) == 0
    assert (tmp_path / "digits.png").stat().st_size > 10_000
    accuracy = float(capsys.readouterr().out.rpartition("of the reloaded model ")[2].split()[0])
    assert accuracy >= 0.97
