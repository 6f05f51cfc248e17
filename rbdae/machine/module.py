"""LLVM text as machine code in this process, kept on disk by its content.

An entry of the cache (`rbdae.machine.cache`) belongs to a key: a digest of the text, or of all that it
depends on, the level of optimisation, the versions, and the processor with its features. Whether there is a cache, and
what is in it, changes times and nothing else.

RBDAE_LLVM=quick in the environment asks for code as it comes, with the operations as recorded: slower, and there
sooner. RBDAE_LLVM=none has the same, but none of models: their callbacks run in Python. Both are for tests.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, final

from rbdae import _process
from rbdae._frozen import refuse_copies
from rbdae._version import __version__
from rbdae.machine import cache as entries

_LOCK = threading.RLock()
"""LLVM's parser and engines are used by one thread at a time."""

_process.protect(lambda: _LOCK, 40)
_process.protect(lambda: _lock_of_llvmlite(), 90)

_ALIKE: dict[bytes, bytes] = {}
"""Keys of the code of texts that this process has compiled: forms of one mechanism share many of their readers."""

_INSTALL = "install llvmlite>=0.45"
"""Its LLVM 20 reads our text, where pointers have no type."""


@contextmanager
def collector_off() -> Iterator[None]:
    """A recording makes millions of objects that live: the garbage collector costs time and finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class NoMachineCode(RuntimeError):
    """llvmlite cannot make machine code here; the message says why."""


@final
class Module:
    """Machine code: the addresses of its functions by name, which hold as long as this object lives."""

    def __init__(self, engine: Any) -> None:
        self._find = engine.get_function_address
        self._known: dict[str, int] = {}

    def __reduce__(self) -> Any:
        refuse_copies()

    def __getitem__(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = self._find(name)
        if not self._known[name]:
            raise KeyError(f"there is no function {name} in this machine code")
        return self._known[name]


@cache
def _llvm() -> Any:
    """llvmlite's binding, ready for this processor; a slow import, which only problems need that run."""
    try:
        import llvmlite.binding as llvm
    except Exception as error:  # not installed, or its library cannot be loaded
        raise NoMachineCode(f"llvmlite cannot be imported ({type(error).__name__}: {error}); {_INSTALL}") from error
    try:
        with suppress(RuntimeError):  # newer versions initialise themselves, and say so
            llvm.initialize()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.Target.from_default_triple()
    except RuntimeError as error:
        raise NoMachineCode(f"llvmlite has no target for this processor: {error}") from error
    return llvm


def _lock_of_llvmlite() -> Any:
    """The lock that keeps other threads out of LLVM; None before llvmlite is imported."""
    ffi = sys.modules.get("llvmlite.binding.ffi")
    return getattr(getattr(getattr(ffi, "lib", None), "_lock", None), "_lock", None)


@cache
def _processor() -> tuple[str, str]:
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _made_by() -> tuple[object, ...]:
    """Dependences of machine code beside its text: the compiler, the processor, and how this module calls them."""
    import llvmlite

    try:
        own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    except OSError:  # in an application without sources
        own = ""
    versions = (__version__, own, llvmlite.__version__, _llvm().llvm_version_info)
    return (*versions, *_processor(), sys.platform, sys.version_info[:2])


def _target(level: int) -> Any:
    llvm = _llvm()
    name, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(
        opt=level, cpu=name, features=features, codemodel="jitdefault", jit=True
    )


_BLOCK = 100
"""Lines of a basic block in code as it comes: LLVM's time grows faster than in proportion to them."""


def _in_blocks(text: str) -> str:
    """The text with long blocks of its functions cut; those where ways meet stay as they are. Products and sums stay
    two operations: where blocks end is to change no bit."""
    functions = text.replace(" contract ", " ").split("\n}")
    return "\n}".join(each if " phi " in each else _cut(each) for each in functions)


def _cut(function: str) -> str:
    out: list[str] = []
    begun = 0
    for line in function.split("\n"):
        if line.endswith((":", "{")):
            begun = len(out)
        out.append(line)
        if len(out) - begun > _BLOCK and line.startswith("store"):
            name = f"cut.{len(out)}"
            out += [f"br label %{name}", f"{name}:"]
            begun = len(out)
    return "\n".join(out)


def _optimised(written: Written) -> bytes:
    llvm = _llvm()
    context = llvm.create_context()  # the common one keeps every number that was ever in a text
    try:
        module = llvm.parse_assembly(written.text, context)
        try:
            module.verify()
            return _emitted(module, written)
        finally:
            module.close()
    except RuntimeError as error:
        version = ".".join(map(str, llvm.llvm_version_info))
        raise NoMachineCode(f"LLVM {version} refuses the text of a model: {error}; {_INSTALL}") from error
    finally:
        context.close()


def _emitted(module: Any, written: Written) -> bytes:
    level = written.level
    if not written.passes:
        plain: bytes = _target(min(level, 1)).emit_object(module)
        return plain
    from llvmlite.binding import ffi

    llvm = _llvm()
    target = _target(2 if level else 0)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.slp_vectorization = written.pairing
    options.loop_vectorization = written.loops
    builder = llvm.create_pass_builder(target, options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)
    ffi.lib.LLVMPY_DisposeNewModulePassManger(manager)  # which `close` of llvmlite to 0.50 does not free
    manager.detach()
    out: bytes = target.emit_object(module)
    return out


def _linked(code: bytes) -> Module:
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target(0))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Module(engine)


@cache
def sources(*folders: Path) -> str:
    """The digest of all files of some folders: reading them is quicker than writing text for the compiler."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


class Written(NamedTuple):
    """LLVM text, the level of optimisation, from 0 (as it comes) to 3, whether LLVM looks for operations that can be
    done two at a time, which takes longer than all else in long texts, what is kept beside the code, whether
    passes of loops are done several at a time: scatters to eight addresses make LLVM 20 abort there ("Already set a
    value"), and whether there are passes over the text at all, in which values are no longer variables in memory."""

    text: str
    level: int = 2
    pairing: bool = False
    beside: bytes = b""
    loops: bool = False
    passes: bool = True


def as_it_comes() -> bool:
    """Whether code is wanted soon, not quick code."""
    return os.environ.get("RBDAE_LLVM") in ("quick", "none")


def of_models() -> bool:
    """Whether models have code."""
    return os.environ.get("RBDAE_LLVM") != "none"


def from_cache(made_of: object, write: Callable[[], Written]) -> tuple[Module, bytes]:
    """The machine code of a text, and what is kept beside it; from the cache if it is there, and the text is not
    written then. `made_of` says all that the text depends on. What a signal has left (`rbdae._process`) is raised
    between the parts of the work.

    Raises
    ------
    NoMachineCode
        if llvmlite cannot make any here
    """
    quick = as_it_comes()
    with _LOCK:
        _llvm()
        key = hashlib.sha256(repr((made_of, quick, *_made_by())).encode()).digest()
        found = entries.read(key)
        if found is not None:
            return _linked(found[1]), found[0]
    written = write()  # other threads may compile meanwhile
    _process.check()
    with _LOCK:
        if quick:
            written = written._replace(text=_in_blocks(written.text), level=0, pairing=False, loops=False)
        text, *how = written._replace(beside=b"")
        digest = hashlib.sha256(repr(how).encode() + text.encode()).digest()
        before = entries.read(_ALIKE.setdefault(digest, key))
        code = before[1] if before else _optimised(written)
        entries.write(key, written.beside, code)
        _process.check()
        return _linked(code), written.beside


def compiled(text: str | Callable[[], str], level: int = 2, *, made_of: object = None) -> Module:
    """The machine code of an LLVM text, or of a function that writes it; `made_of` is the text if it is not given."""
    made_of = text if made_of is None else made_of
    return from_cache((made_of, level), lambda: Written(text if isinstance(text, str) else text(), level))[0]
