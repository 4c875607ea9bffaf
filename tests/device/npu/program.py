"""A step of training that makes every kind of call: what is injected into, and recorded."""

import mindtorch as torch


def model() -> torch.nn.Module:
    torch.manual_seed(3)
    with torch.device("cpu"):
        made = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    return made.to("npu")


def step(net: torch.nn.Module) -> list[float]:
    """Copies, forward, backward, optimizer, streams, events, memory: gives the loss and something of each part."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    host, target = torch.empty(6, 4, pin_memory=True), torch.arange(6, device="cpu") % 3
    host.copy_(torch.arange(24.0, device="cpu").reshape(6, 4).sin())
    begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    begin.record()
    inputs = host.to("npu", non_blocking=True)
    scores = net(inputs)
    loss = torch.nn.functional.cross_entropy(scores, target.to("npu"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    end.record()
    found = places_and_copies(scores.detach())
    side = torch.npu.Stream()
    side.wait_event(end)
    scores.record_stream(side)
    with torch.npu.stream(side):
        parts = torch.cat([scores.detach() * 2, scores.detach()], 0)
        back = torch.empty(parts.shape, pin_memory=True)
        back.copy_(parts, non_blocking=True)
    assert side.query() in (True, False) and end.query() in (True, False)
    end.synchronize()
    side.synchronize()
    assert begin.elapsed_time(end) >= 0
    del host  # whose memory the next call gives back
    torch.npu.empty_cache()
    torch.npu.synchronize()
    return [loss.item(), back.sum().item(), found, *[parameter.sum().item() for parameter in net.parameters()]]


def places_and_copies(scores: torch.Tensor) -> float:
    """A result whose size the numbers decide, memory that grows and is filled, and a copy on another device."""
    count = len((scores > 0).nonzero())
    grown = scores.clone()
    grown.resize_(8, 3)
    total = grown[:6].sum().item()
    grown.untyped_storage().fill_(0)
    there = scores.to("npu:1")
    back = there.mul_(2).to("npu:0")
    return count + total + grown.sum().item() + back.sum().item()
