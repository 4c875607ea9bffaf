"""Stores: what each call gives, as PyTorch's stores give it."""

from datetime import timedelta

import pytest

import mindtorch.distributed as ours

theirs = pytest.importorskip("torch.distributed")

SHORT = timedelta(milliseconds=20)

CALLS = {
    "get": lambda s: s.get("none"),
    "wait": lambda s: s.wait(["a", "b"], SHORT),
    "multi_get of a missing key": lambda s: (s.set("n", "1"), s.multi_get(["n", "none"])),
    "compare_set of a missing key": lambda s: (s.compare_set("k", "x", "y"), s.check(["k"])),
    "compare_set": lambda s: [s.compare_set("k", a, b) for a, b in (("", "y"), ("y", "z"), ("q", "w"))],
    "add": lambda s: (s.add("c", 2**40), s.add("c", -1), s.get("c")),
    "add to a set number": lambda s: (s.set("c", "41"), s.add("c", 1)),
    "delete_key": lambda s: (s.set("d", ""), s.delete_key("d"), s.check(["d"])),
    "multi_set": lambda s: (s.multi_set(["x", "y"], ["1", "2"]), s.multi_get(["y", "x"])),
    "append": lambda s: (s.append("x", "1"), s.append("x", "2"), s.get("x")),
    "bytes": lambda s: (s.set("b", b"\x00\xff"), s.get("b")),
    "check of nothing": lambda s: (s.check([]), s.wait([])),
    "timeout": lambda s: s.timeout,
}
QUEUES = {
    "queue": lambda s: (s.queue_push("q", "1"), s.queue_push("q", "2"), s.queue_len("q"), s.queue_pop("q")),
    "queue_pop of nothing": lambda s: s.queue_pop("e", False),
    "queue_pop that waits": lambda s: s.queue_pop("e"),
    "list_keys": lambda s: (s.set("l", "1"), s.set("m", "1"), sorted(s.list_keys())),
}


def made(library, kind, folder):
    if kind == "file":
        store = library.FileStore(str(folder / library.__name__), 1)
    elif kind == "hash":
        store = library.HashStore()
    else:
        store = library.TCPStore("localhost", 0, None, True, wait_for_workers=False)
    store = library.PrefixStore("p", store) if kind == "prefix" else store
    store.set_timeout(SHORT)
    return store


def outcome(store, call):
    try:
        return call(store)
    except RuntimeError as error:
        return type(error).__name__, str(error).splitlines()[0]


@pytest.mark.parametrize("kind", ["hash", "file", "tcp", "prefix"])
@pytest.mark.parametrize("call", [*CALLS, *QUEUES])
def test_calls(kind, call, tmp_path):
    if kind == "file" and call in QUEUES:
        pytest.skip("PyTorch's files have no queues")
    function = {**CALLS, **QUEUES}[call]
    expected = outcome(made(theirs, kind, tmp_path), function)
    found = outcome(made(ours, kind, tmp_path), function)
    if kind == "file" and "multi_get" in call:
        assert found[0] == expected[0]  # ours waits for all keys at once
    else:
        assert found == expected


PLACES = {
    "no server": lambda d: d.TCPStore("localhost", 1, 2, False, timeout=SHORT),
    "no clients": lambda d: d.TCPStore("localhost", 0, 2, True, timeout=timedelta(seconds=1)),
}


@pytest.mark.parametrize("place", PLACES)
def test_servers(place):
    def said(library):
        with pytest.raises(RuntimeError) as raised:
            PLACES[place](library)
        return type(raised.value).__name__, str(raised.value).splitlines()[0]

    assert said(ours) == said(theirs)


@pytest.mark.parametrize("call", [lambda s: s.get("x"), lambda s: s.set("x", "1"), lambda s: s.wait(["x"])])
def test_a_server_that_has_ended(call):
    server = ours.TCPStore("localhost", 0, None, True, wait_for_workers=False)
    client = ours.TCPStore("localhost", server.port, None, False, wait_for_workers=False)
    client.set("x", "1")
    del server
    with pytest.raises(ours.DistNetworkError, match="Failed to recv, got 0 bytes|Broken pipe|Connection reset"):
        for _ in range(3):
            call(client)
