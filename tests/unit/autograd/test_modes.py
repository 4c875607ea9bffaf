"""Grad mode, inference mode and anomaly mode."""

import threading
import time
import warnings

import pytest

import mindtorch as torch
from mindtorch._core import state


def leaf(*numbers):
    return torch.tensor([float(number) for number in numbers]).requires_grad_()


def enabled():
    return torch.is_grad_enabled()


class TestGradMode:
    def test_blocks(self):
        with torch.no_grad():
            assert not enabled() and not (leaf(1) * 2).requires_grad
            with torch.enable_grad():
                assert enabled()
            assert not enabled()
        assert enabled()

    def test_an_exception_ends_the_block(self):
        with pytest.raises(ValueError, match="inside"), torch.no_grad():
            raise ValueError("inside")
        assert enabled()

    @pytest.mark.parametrize("decorate", [torch.no_grad, torch.no_grad(), torch.set_grad_enabled(True).__class__(True)])
    def test_decorators(self, decorate):
        @decorate
        def named(number):
            """Documented."""
            return enabled(), number

        expected = isinstance(decorate, torch.set_grad_enabled)
        assert named(3) == (expected, 3) and named.__name__ == "named" and named.__doc__ == "Documented." and enabled()

    def test_recursive_functions(self):
        @torch.no_grad()
        def count(n):
            return n == 0 or (count(n - 1) and not enabled())

        assert count(5) and enabled()

    def test_set_grad_enabled(self):
        switch = torch.set_grad_enabled(False)
        assert not enabled() and str(switch) == "torch.autograd.grad_mode.set_grad_enabled(mode=False)"
        torch.set_grad_enabled(True)
        with torch.set_grad_enabled(False):
            assert not enabled()
        assert enabled()
        assert torch.set_grad_enabled(False)(enabled)() is False and enabled()
        with pytest.raises(TypeError, match=r"argument 'enabled' \(position 1\) must be bool, not int"):
            torch.set_grad_enabled(1)

    def test_generators(self):
        seen = []

        @torch.no_grad()
        def generate():
            try:
                seen.append((yield enabled()))
                yield enabled()
            except ValueError:
                yield "caught"
            finally:
                seen.append(enabled())
            return "result"

        generator = generate()
        assert next(generator) is False and enabled()
        assert generator.send("sent") is False and enabled()
        assert generator.throw(ValueError()) == "caught" and enabled()
        with pytest.raises(StopIteration) as stop:
            next(generator)
        assert stop.value.value == "result" and seen == ["sent", False]
        assert list(torch.no_grad()(lambda: (yield enabled()))()) == [False]
        closed = generate()
        next(closed)
        closed.close()
        assert seen[-1] is False and enabled()

    def test_an_empty_generator(self):
        @torch.no_grad()
        def nothing():
            return 3
            yield

        assert list(nothing()) == []

    def test_per_thread(self):
        seen = []
        with torch.no_grad():
            worker = threading.Thread(target=lambda: seen.append(enabled()))
            worker.start()
            worker.join()
        assert seen == [True]


class TestInferenceMode:
    def test_tensors(self):
        x = torch.ones(2)
        with torch.inference_mode():
            assert not enabled() and torch.is_inference_mode_enabled()
            y = x * 2
            assert y.is_inference() and not x.is_inference() and not x[0].is_inference()
            with torch.inference_mode(False):
                assert enabled() and not (x * 2).is_inference()
        assert enabled() and not torch.is_inference_mode_enabled()
        assert y[0].is_inference() and not y.clone().is_inference()

    def test_writes(self):
        with torch.inference_mode():
            y = torch.ones(2)
            y.add_(1)
        with pytest.raises(
            RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed."
        ):
            y.add_(1)
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter."):
            _ = y._version
        with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
            y.requires_grad_()

    @pytest.mark.parametrize(
        "decorate", [torch.inference_mode, torch.inference_mode(), torch.inference_mode(mode=True)]
    )
    def test_decorators(self, decorate):
        assert decorate(torch.is_inference_mode_enabled)() and not torch.is_inference_mode_enabled()


class TestAnomalyMode:
    def test_nan(self):
        x = leaf(-1)
        with pytest.warns(UserWarning) as caught, torch.autograd.detect_anomaly():
            with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output."):
                x.sqrt().sum().backward()
        texts = [str(warning.message) for warning in caught]
        assert texts[0].startswith("Anomaly Detection has been enabled.")
        assert texts[1].startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:")
        assert "x.sqrt()" in texts[1]

    def test_forward_outside(self):
        y = leaf(-1).sqrt().sum()
        with pytest.warns(
            UserWarning, match="No forward pass information available. Enable detect anomaly during forward"
        ):
            with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match="returned nan"):
                y.backward()

    def test_without_nan_check(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.autograd.detect_anomaly(check_nan=False):
                leaf(-1).sqrt().sum().backward()

    def test_an_error_in_backward(self):
        class Fails(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                raise ValueError("in backward")

        with torch.autograd.set_detect_anomaly(True):
            y = Fails.apply(leaf(1))
            with pytest.warns(UserWarning, match="Error detected in FailsBackward. Traceback of forward call"):
                with pytest.raises(ValueError, match="in backward"):
                    y.backward()

    def test_nesting(self):
        is_enabled = torch.autograd.anomaly_mode.is_anomaly_enabled
        with torch.autograd.set_detect_anomaly(True):
            with torch.autograd.set_detect_anomaly(False):
                assert not is_enabled()
            assert is_enabled() and torch.autograd.anomaly_mode.is_anomaly_check_nan_enabled()
        assert not is_enabled()
        switch = torch.autograd.set_detect_anomaly(True, check_nan=False)
        assert is_enabled() and not torch.autograd.anomaly_mode.is_anomaly_check_nan_enabled()
        with switch:
            pass
        assert not is_enabled()

    def test_hint(self):
        with torch.autograd.set_detect_anomaly(True), pytest.warns(UserWarning, match="Error detected in ExpBackward0"):
            y = leaf(1).exp()
            y.add_(1)
            with pytest.raises(RuntimeError, match="Hint: the backtrace further above shows the operation that failed"):
                y.backward()


class TestThreadsThatEnd:
    """What a thread has switched for itself is not counted any longer when it is gone, whatever it left switched."""

    @pytest.mark.parametrize("switch", [torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False)])
    @pytest.mark.usefixtures("settled")
    def test_within_a_block(self, switch):
        before = state.grad_everywhere, state.active_modes

        def work():
            switch().__enter__()
            during.append(state.grad_everywhere)

        during = []
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        deadline = time.monotonic() + 5  # a thread's own data goes a moment after it is joined
        while (state.grad_everywhere, state.active_modes) != before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert during == [False] and (state.grad_everywhere, state.active_modes) == before

    def test_after_a_block(self):
        def work():
            with torch.no_grad():
                pass

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        del thread
        assert state.grad_everywhere


class TestViewReplay:
    def test_views_are_taken_again_by_their_functions(self):
        names = []
        for replays in (False, True):
            with torch.autograd._force_original_view_tracking(replays):
                assert torch.autograd.is_view_replay_enabled() == replays
                x = torch.ones(2, 3).requires_grad_()
                y = x * 1
                view = y[1]
                y.mul_(2)
                names.append(view.grad_fn.name())
        assert names == ["AsStridedBackward0", "SelectBackward0"]
