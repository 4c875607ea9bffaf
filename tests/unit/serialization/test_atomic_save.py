"""A file that is saved takes the place of the old one when it is complete, and not before."""

import os
import resource
import signal
import stat
import time

import pytest

import mindtorch as torch

OLD, NEW = torch.arange(1000.0), torch.arange(200_000.0)
FORMATS = pytest.mark.parametrize("is_new", [True, False], ids=["zip", "old"])


def save(value, path, is_new=True):
    torch.save(value, path, _use_new_zipfile_serialization=is_new)


def is_whole(path, expected):
    return torch.equal(torch.load(path), expected)


@pytest.fixture
def path(tmp_path):
    save(OLD, tmp_path / "model.pt")
    return tmp_path / "model.pt"


@pytest.fixture
def small_files():
    """As if the disk were full after 100 kB."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@FORMATS
def test_a_full_disk(path, is_new, small_files):
    with pytest.raises((RuntimeError, OSError), match="File too large"):
        save(NEW, path, is_new)
    assert is_whole(path, OLD)
    with pytest.raises((RuntimeError, OSError), match="File too large"):
        save(NEW, path.parent / "other.pt", is_new)
    assert os.listdir(path.parent) == ["model.pt"]


def forked(run):
    """The id of a process that runs a function, and ends with 0 if it raises nothing."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            run()
            status = 0
        finally:
            os._exit(status)
    return process


def status_of(process):
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_killed_process(path):
    value = torch.arange(3_000_000.0)

    def save_for_ever():
        while True:
            save(value, path)

    process = forked(save_for_ever)
    for _ in range(40):
        time.sleep(0.01)
        found = torch.load(path)
        assert found.numel() in (1000, 3_000_000)
        assert found[-1] == found.numel() - 1
    os.kill(process, signal.SIGKILL)
    assert status_of(process) == -signal.SIGKILL
    assert torch.load(path).numel() in (1000, 3_000_000)
    rest = [name for name in os.listdir(path.parent) if name != "model.pt"]
    assert all(name.startswith(".model.pt.") and name.endswith(".partial") for name in rest)


@FORMATS
def test_what_cannot_be_pickled_leaves_the_file_alone(path, is_new):
    for target in (path, path.parent / "new.pt"):
        with pytest.raises((AttributeError, TypeError, ValueError)):
            save([NEW, (number for number in range(3))], target, is_new)
    assert is_whole(path, OLD)
    assert os.listdir(path.parent) == ["model.pt"]


def test_permissions(path):
    before = os.umask(0o027)
    try:
        save(NEW, path.parent / "new.pt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((path.parent / "new.pt").stat().st_mode) == 0o640
    path.chmod(0o604)
    save(NEW, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_links(path):
    link, dangling = path.parent / "link.pt", path.parent / "dangling.pt"
    link.symlink_to("model.pt")
    dangling.symlink_to("made.pt")
    save(NEW, link)
    save(NEW, dangling)
    assert link.is_symlink()
    assert dangling.is_symlink()
    assert is_whole(path, NEW)
    assert is_whole(path.parent / "made.pt", NEW)
    second = path.parent / "second.pt"
    os.link(path, second)
    save(OLD, path)
    assert is_whole(second, OLD)


def saved_to_output(descriptor, name):
    def run():
        os.dup2(descriptor, 1)
        save(torch.arange(9), name)

    assert status_of(forked(run)) == 0


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1"])
def test_open_files(tmp_path, name):
    end, start = os.pipe()
    saved_to_output(start, name)
    os.close(start)
    with open(end, "rb") as pipe:
        (tmp_path / "file.pt").write_bytes(pipe.read())
    assert is_whole(tmp_path / "file.pt", torch.arange(9))
    with open(tmp_path / "out.pt", "wb") as out:
        saved_to_output(out.fileno(), name)
        assert os.fstat(out.fileno()).st_ino == (tmp_path / "out.pt").stat().st_ino
    assert is_whole(tmp_path / "out.pt", torch.arange(9))


def test_pipes_with_a_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = forked(lambda: save(torch.arange(9), tmp_path / "pipe"))
    (tmp_path / "file.pt").write_bytes((tmp_path / "pipe").read_bytes())
    assert status_of(process) == 0
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert is_whole(tmp_path / "file.pt", torch.arange(9))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_folders_and_files_that_may_not_be_written(path):
    def save_as_another_user():
        os.chdir(path.parent)
        os.setuid(65534)
        save(torch.arange(9), "model.pt")

    shown = path.parent
    for folder in (shown, *[each for each in shown.parents if len(each.parts) > 2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    path.chmod(0o666)
    assert status_of(forked(save_as_another_user)) == 0
    assert is_whole(path, torch.arange(9))
    save(OLD, path)
    shown.chmod(0o777)
    path.chmod(0o644)
    assert status_of(forked(save_as_another_user)) == 1
    assert is_whole(path, OLD)


def test_a_file_that_is_no_place(tmp_path):
    with pytest.raises(RuntimeError, match="Parent directory .*none does not exist"):
        save(OLD, tmp_path / "none" / "model.pt")
    with pytest.raises(RuntimeError, match="Is a directory"):
        save(OLD, tmp_path)
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
        save(OLD, 3)


class Slow:
    """Takes a few bytes at a time, as a socket does."""

    def __init__(self):
        self.content = b""

    def write(self, part):
        self.content += bytes(part[:1000])
        return min(len(part), 1000)


def test_a_file_that_takes_a_part_at_a_time(tmp_path):
    slow = Slow()
    torch.save(OLD, slow)
    (tmp_path / "file.pt").write_bytes(slow.content)
    assert is_whole(tmp_path / "file.pt", OLD)
