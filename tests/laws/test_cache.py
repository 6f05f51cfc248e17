"""The caches of machine code change times and nothing else: whatever is in them, wherever they are, whoever left it."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import stat
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import inside
import numpy as np
import pytest
from cases import count

from rbdae.cli import main

resource = pytest.importorskip("resource")  # of Unix, as are owners and modes

OTHER = 12345
"""Another user."""


@pytest.fixture
def empty(tmp_path, monkeypatch) -> Iterator[Path]:
    """An empty cache."""
    monkeypatch.setenv("RBDAE_CACHE_DIR", str(tmp_path / "cache"))
    inside.may_say_again()
    yield tmp_path / "cache"
    inside.may_say_again()


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# ---------------------------------------------------------------- damaged entries

Damage = Callable[[Path, Path, Any], None]


def flipped(path: Path, other: Path, rng: Any) -> None:
    contents = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        contents[int(rng.integers(len(contents)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(contents)


def noise(path: Path, other: Path, rng: Any) -> None:
    path.write_bytes(rng.bytes(int(rng.integers(2000))))


def of_another(path: Path, other: Path, rng: Any) -> None:
    path.write_bytes(other.read_bytes())


def a_folder(path: Path, other: Path, rng: Any) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path, other: Path, rng: Any) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link(path: Path, other: Path, rng: Any) -> None:
    path.unlink()
    targets = (other, path.parent, Path("/dev/zero"), path.with_name("nowhere"), path)
    path.symlink_to(targets[int(rng.integers(len(targets)))])


def open_to_others(path: Path, other: Path, rng: Any) -> None:
    """What somebody else could have written is not run, whatever it is."""
    path.write_bytes(path.read_bytes())
    path.chmod(0o666)


DAMAGES: list[Damage] = [flipped, noise, of_another, a_folder, a_pipe, a_link, open_to_others]


@pytest.mark.sampled
def test_damaged_entries_are_made_again(empty, rng):
    """Seen: the code of another model was run under a forged name, and a digest of nothing ended the process."""
    paths = [inside.entry_of(k) for k in (1, 2)]
    for case in range(count(80, 10_000)):
        k = int(rng.integers(2))
        damage = DAMAGES[case % len(DAMAGES)]
        damage(paths[k], paths[1 - k], rng)
        with warnings.catch_warnings():
            # a folder in the place of an entry is left alone
            warnings.simplefilter("ignore" if damage is a_folder else "error")
            assert inside.number_of(1) == 1.0 and inside.number_of(2) == 2.0, damage.__name__
        if damage is a_folder:
            remove(paths[k])
            inside.number_of(k + 1)
        for path in paths:
            found = path.lstat()
            assert stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o600, damage.__name__
        assert [stat.S_IMODE(p.stat().st_mode) for p in (empty, empty / "machine")] == [0o700, 0o700]
        assert sorted(empty.rglob("*.o")) == sorted(paths) and not list(empty.rglob(".*")), damage.__name__


def test_entries_that_are_whole_are_read(empty, monkeypatch):
    """Otherwise the test before would see nothing."""
    path = inside.entry_of(1)
    before = path.stat().st_mtime_ns
    assert inside.number_of(1) == 1.0 and path.stat().st_mtime_ns == before
    flipped(path, path, np.random.default_rng(0))
    assert inside.number_of(1) == 1.0 and path.stat().st_mtime_ns != before


# ---------------------------------------------------------------- owners and modes


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_folders_that_others_can_write_are_not_used(empty, mode):
    inside.number_of(1)
    (empty / "machine").chmod(mode)
    path = next((empty / "machine").glob("*.o"))
    path.unlink()
    with pytest.warns(RuntimeWarning, match="is not used: it can be written by others, and what is there is run"):
        assert inside.number_of(1) == 1.0
    assert not list((empty / "machine").iterdir())
    assert inside.number_of(2) == 2.0  # said once


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_others_own_is_not_used(empty):
    path = inside.entry_of(1)
    os.chown(path, OTHER, -1)
    assert inside.number_of(1) == 1.0
    assert path.stat().st_uid == 0  # made again
    os.chown(empty / "machine", OTHER, -1)
    before = path.stat().st_mtime_ns
    with pytest.warns(RuntimeWarning, match="is not used: it belongs to another user"):
        assert inside.number_of(1) == 1.0
    path.unlink()
    assert inside.number_of(1) == 1.0 and not path.exists() and before


# ---------------------------------------------------------------- no place for a cache


def _nobody(uid: int) -> Any:
    raise KeyError(uid)


def environments(folder: Path) -> dict[str, tuple[dict[str, str], str]]:
    """Variables that are set (HOME, XDG_CACHE_HOME and RBDAE_CACHE_DIR are not, otherwise), and what is said."""
    file = folder / "file"
    file.touch()
    return {
        "nothing": ({}, "no home folder"),
        "relative": ({"HOME": "home", "XDG_CACHE_HOME": "cache"}, "no home folder"),
        "home": ({"HOME": str(folder / "home"), "XDG_CACHE_HOME": ""}, ""),
        "XDG": ({"XDG_CACHE_HOME": str(folder / "xdg")}, ""),
        "a file": ({"RBDAE_CACHE_DIR": str(file)}, "cannot be kept in"),
        "no folders there": ({"RBDAE_CACHE_DIR": "/proc/no/such/folder"}, "cannot be kept in"),
        "surrogates": ({"RBDAE_CACHE_DIR": os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")}, ""),
    }


@pytest.mark.sampled
def test_no_environment_is_an_error_or_leaves_something_behind(tmp_path, monkeypatch, rng):
    """Seen: without a home a RuntimeError, and with XDG_CACHE_HOME="" code was run from the working folder."""
    monkeypatch.setattr(pwd, "getpwuid", _nobody)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for k in range(count(1, 40)):
        for name, (variables, said) in environments(tmp_path).items():
            inside.may_say_again()
            with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as found:
                for variable in ("HOME", "XDG_CACHE_HOME", "RBDAE_CACHE_DIR"):
                    patch.delenv(variable, raising=False)
                for variable, value in variables.items():
                    patch.setenv(variable, value)
                warnings.simplefilter("always")
                assert inside.number_of(100 + k) == inside.number_of(100 + k) == 100.0 + k, name
            assert [said in str(w.message) for w in found] == ([True] if said else []), (name, [*map(str, found)])
            assert not list(here.iterdir()), name
    inside.may_say_again()


# ---------------------------------------------------------------- disks that are full


@contextlib.contextmanager
def full_disk(n_bytes: int) -> Iterator[None]:
    """No file of this process becomes longer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("n_bytes", [0, 100])
def test_nothing_stays_of_an_entry_that_cannot_be_written(empty, n_bytes):
    """Seen: a temporary file for each kernel, on a full disk."""
    with full_disk(n_bytes), pytest.warns(RuntimeWarning, match="machine code cannot be kept in .* compiles its own"):
        assert [inside.number_of(k) for k in range(3)] == [0.0, 1.0, 2.0]
    assert not list((empty / "machine").iterdir())


# ---------------------------------------------------------------- its size, and the command


def test_the_cache_is_bounded_and_what_is_used_stays(empty, monkeypatch):
    inside.limits_of_cache(monkeypatch, most_files=8)
    first = inside.entry_of(0)
    (first.parent / ".x.new").touch()
    (first.parent / "other").touch()
    for path in first.parent.iterdir():
        os.utime(path, (1e9, 1e9))
    for k in range(1, 30):
        if k % 3 == 0:
            assert inside.number_of(0) == 0.0  # it is used, and touched for that
            assert first.stat().st_mtime > 1.1e9
        path = inside.entry_of(k)
        os.utime(path, (1e9 + k, 1e9 + k))
    names = {path.name for path in first.parent.iterdir()}
    assert "other" in names and ".x.new" not in names and first.name in names and path.name in names
    assert len(names) <= 10


def test_the_command_shows_and_clears_the_cache(empty, capsys):
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"cache in {empty}\n  empty\n"
    for k in range(3):
        inside.number_of(k)
    mine = [empty / "mine.txt", empty / "machine" / "mine.o"]
    for path in mine:
        path.touch()
    assert main(["cache"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"machine code +3 entries +0\.0 MB", shown)
    assert main(["cache", "--clear"]) == 0
    assert "removed" in capsys.readouterr().out
    assert sorted(p for p in empty.rglob("*") if p.is_file()) == sorted(mine)
    assert main(["cache"]) == 0
    assert capsys.readouterr().out.endswith("  empty\n")
