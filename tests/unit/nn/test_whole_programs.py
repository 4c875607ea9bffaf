"""Whole programs give the figures that PyTorch 2.13 gave for them."""

import pytest

import mindtorch
from tests.whole_programs import PROGRAMS

FIGURES = {
    "polynomial_fit": [56.8261, 0.394197, -0.133721, -0.0308168],
    "custom_function": [26.2646, -4.43309e-11, -1.09217, 2.23517e-11, 0.244214],
    "residual_classifier": [1.02786, 0.969371, 0.900994, 0.832515, 0.455692, -0.0256626],
    "character_network": [26.2384, 22.153, 18.1118, 12.3197, 12.7755, 18.0797],
    "small_transformer": [10.9135, 9.66745, 8.64178, 6.07223, 5.28891, 0, 3, 10, 6, 6, 10, 1],
    "variational_autoencoder": [14.4512, 14.2047, 14.0838, 13.9711, 13.5896],
    "gradient_penalty": [0.734072, 3.06372, 0.285547, 6.17671, 0.862712, 8.15563, 0.0],
    "meta_learning": [0.631768, 8.16919, 4.30867],
    "newton_steps": [4.73188, 1411.85, 0.0559655, 0.313189, 1.85274e-11, 801.993, -399.998, -399.998, 200.0],
    "clusters_and_components": [0.350903, 4.79103, 5.15118, 5.15838, -0.0224097, -0.138595, 21, 19, 20, 10.1417],
    "game_of_life": [3, 4, 4, 2, 4, 4, 5, 3, 5, 4],
    "bandit": [0.0312277, 0.0928269, 0.875945, 0.923908],
    "checkpoint": [0.818741, 0.679525, 0.878833, 0.01, -1.44862],
    "forward_mode": [1.34327, 1.5, 1.34327, 1.5],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded_figures(name):
    assert PROGRAMS[name](mindtorch) == pytest.approx(FIGURES[name], rel=2e-4, abs=1e-5)
