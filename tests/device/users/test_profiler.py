"""Profiles of programs on NPUs: which kernels ran, for how long, and for which op."""

import json

import pytest

import mindtorch as torch
from mindtorch.backends.npu.launch import settings
from mindtorch.profiler import ProfilerActivity, profile, record_function, schedule


def compute():
    x = torch.ones(8, 8, device="npu")
    with record_function("block"):
        return (x @ x).exp()


def test_kernels_and_their_ops():
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as found:
        compute()
    events = found.events()
    kernels = [event for event in events if event.device_type == "npu"]
    assert {"aclnnMm", "aclnnExp"} <= {event.name for event in kernels}
    assert all(event.device_time_total > 0 and event.cpu_time_total == 0 for event in kernels)
    by_name = {event.name: event for event in events}
    assert [kernel.name for kernel in by_name["aten::exp"].kernels] == ["aclnnExp"]
    assert by_name["aten::exp"].device_time_total == pytest.approx(by_name["aclnnExp"].device_time_total)
    inside = by_name["aten::exp"].device_time_total + by_name["aten::matmul"].device_time_total
    assert by_name["block"].device_time_total == pytest.approx(inside)
    assert settings.watch is None


def test_averages_and_tables():
    with profile() as found:  # everything that there is
        compute()
        compute()
    averages = {each.key: each for each in found.key_averages()}
    assert averages["aclnnExp"].count == 2
    assert averages["aclnnExp"].self_device_time_total == pytest.approx(averages["aten::exp"].device_time_total)
    table = found.key_averages().table(sort_by="self_npu_time_total", row_limit=3)
    assert "Self NPU %" in table and "Self NPU time total" in table and "aclnn" in table


def test_a_trace(tmp_path):
    with profile(activities=[ProfilerActivity.PrivateUse1]) as found:
        compute()
    found.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    kernels = [event for event in events if event["cat"] == "kernel"]
    assert {event["pid"] for event in kernels} == {"npu:0"}
    starts = [event["ts"] for event in kernels]
    assert starts == sorted(starts) and all(event["dur"] > 0 for event in kernels)


def test_without_the_device():
    with profile(activities=[ProfilerActivity.CPU]) as found:
        compute()
    assert not found.events().device_types and "NPU" not in found.key_averages().table()


def test_the_older_profiler():
    with torch.autograd.profiler.profile(use_device="npu") as found:
        compute()
    assert "aclnnExp" in {event.name for event in found.function_events}
    assert ProfilerActivity.PrivateUse1 in torch.profiler.supported_activities()


def test_steps():
    seen = []
    with profile(
        schedule=schedule(wait=1, warmup=0, active=1), on_trace_ready=lambda it: seen.append(it.events().device_types)
    ) as found:
        for _ in range(4):
            compute()
            found.step()
    assert seen == [["npu"], ["npu"]] and settings.watch is None


def test_backward_and_other_streams():
    stream = torch.npu.Stream()
    with profile() as found:
        x = torch.ones(4, device="npu", requires_grad=True)
        with torch.npu.stream(stream):
            x.exp().sum().backward()
    kernels = [event for event in found.events() if event.device_type == "npu"]
    assert stream.stream_id in {event.stream for event in kernels}
    assert "aclnnMul" in {event.name for event in kernels}
