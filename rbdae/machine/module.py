"""LLVM text as machine code in this process, kept on disk by its content.

The name of a file in the cache is a digest of the text, the level of optimisation, the versions, and the processor with
its features; its contents carry a digest of their own, so that a damaged file is compiled again. Whether the cache can
be written changes times and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, final

from rbdae._folders import user_cache

_LOCK = threading.RLock()
"""LLVM's parser and engines are used by one thread at a time."""

_DIGEST = 32


class NoMachineCode(RuntimeError):
    """llvmlite cannot make machine code for this processor; the message says what it said."""


def folder() -> Path:
    """Where machine code is kept."""
    return user_cache() / "machine"


@final
class Module:
    """Machine code; its functions stay where they are as long as this object lives."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def address(self, name: str) -> int:
        """Where a function begins."""
        out: int = self._engine.get_function_address(name)
        if not out:
            raise KeyError(f"there is no function {name} in this machine code")
        return out


@cache
def _llvm() -> Any:
    """llvmlite's binding, ready for this processor; a slow import, which only problems need that run."""
    import llvmlite.binding as llvm

    try:
        with suppress(RuntimeError):  # newer versions initialise themselves, and say so
            llvm.initialize()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.Target.from_default_triple()
    except RuntimeError as error:
        raise NoMachineCode(f"llvmlite has no target for this processor: {error}") from error
    return llvm


@cache
def _processor() -> tuple[str, str]:
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target(level: int) -> Any:
    llvm = _llvm()
    name, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(
        opt=level, cpu=name, features=features, codemodel="jitdefault", jit=True
    )


def _optimised(text: str, level: int, *, pairing: bool) -> bytes:
    """The object code of a text."""
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    module.verify()
    target = _target(2)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.slp_vectorization = pairing
    options.loop_vectorization = False  # scatters to eight addresses make LLVM 20 abort ("Already set a value")
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    out: bytes = target.emit_object(module)
    return out


def _linked(code: bytes) -> Module:
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target(0))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Module(engine)


def compiled(text: str | Callable[[], str], level: int = 2, *, pairing: bool = False, made_of: object = None) -> Module:
    """The machine code of an LLVM text, optimised at a level from 0 to 3; from the cache if it is there.

    A text that takes long to write may be a function. `made_of` then says all that it depends on. With `pairing`, LLVM
    looks for operations that can be done two at a time; in long texts that takes longer than all else.

    Raises
    ------
    NoMachineCode
        if llvmlite cannot make any here
    """
    with _LOCK:
        llvm = _llvm()
        made_of = text if made_of is None else made_of
        facts = (made_of, level, pairing, llvm.llvm_version_info, *_processor(), sys.platform)
        path = folder() / f"{hashlib.sha256(repr(facts).encode()).hexdigest()[:40]}.o"
        code = _stored(path)
        if code is None:
            code = _optimised(text if isinstance(text, str) else text(), level, pairing=pairing)
            _store(path, code)
        return _linked(code)


def _stored(path: Path) -> bytes | None:
    with suppress(OSError):
        found = path.read_bytes()
        digest, code = found[:_DIGEST], found[_DIGEST:]
        if hashlib.sha256(code).digest() == digest:
            return code
    return None


def _store(path: Path, code: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(name, path)  # other processes see all of it or nothing
    except OSError as error:
        say_once(f"machine code cannot be kept in {path.parent} ({error}); each process compiles its own")


@cache
def say_once(message: str) -> None:
    """Warn, once in a process."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


__all__ = ["Module", "NoMachineCode", "compiled", "folder", "say_once"]
