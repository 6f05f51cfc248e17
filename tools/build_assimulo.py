"""Build a wheel of Assimulo for current Python and NumPy, from its source releases alone.

    python tools/build_assimulo.py WHEEL_DIRECTORY

PyPI has only old source releases of Assimulo, and none of them builds as it is: 3.0 lacks most of its f2py
signature files, 2.9 has them all but an older ODASSL that does not run. So this takes 3.0, adds the signature
files of 2.9, and makes the substitutions listed below. Needed: Python 3.11 (`numpy.distutils` is gone from
3.12 on), gfortran, a C compiler. Nothing of Assimulo is kept in this repository: it is LGPL, this is not.

Left out are GLIMDA and Assimulo's own SUNDIALS solvers, which want paths of LAPACK and an old SUNDIALS.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BASE = "3.0"
SIGNATURES = "2.9"
SHA256 = {
    "3.0": "61cdca4562745078c966cc4fab44d8bc0db11a9e6856b45c470ac65c16af9e8a",
    "2.9": "e61f5278618f3c2c920c0ef758eae0ae9a0538240d0ceaaae06b5dadff35aa2e",
}

# Cython 3 refuses this source; setuptools 60 stopped using the distutils that numpy.distutils extends; wheel
# 0.45 is the last with its own bdist_wheel. Headers of NumPy 2 give a module that also runs under 1.26.
BUILD_REQUIREMENTS = ("cython<3", "setuptools<60", "wheel<0.46", "numpy>=2")

BUILD_ENVIRONMENT = {
    "NPY_DISTUTILS_APPEND_FLAGS": "1",  # keep numpy.distutils' own Fortran flags beside the next ones
    # Fortran 77 that passes scalars where arrays are declared: an error since gfortran 10
    "FFLAGS": "-std=legacy -fallow-argument-mismatch -fPIC",
    # The same wheel from the same sources: sets in f2py and setup.py, and times in archives.
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "1533081600",  # 2018-08-01; archives know no time before 1980
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Substitution:
    """A regular expression replaced in some files, a known number of times; any other count is an error."""

    name: str
    files: tuple[str, ...]
    old: str
    new: str
    count: int


SUBSTITUTIONS = (
    # The next three names of Python's own types left NumPy in 1.24.
    Substitution(
        "numpy-float",
        ("assimulo/*.pyx", "assimulo/lib/*.py", "assimulo/solvers/*.py", "assimulo/solvers/*.pyx"),
        r"\b(N|np)\.float\b",
        r"\1.float64",
        43,
    ),
    Substitution("numpy-int", ("assimulo/solvers/odassl.py",), r"\bnp\.int\b", "np.int64", 2),
    Substitution("numpy-bool", ("assimulo/*.pyx",), r"\bN\.bool\b", "N.bool_", 9),
    # Radau5's Fortran in 3.0 hands the error weights to `solout`, before `lrc`; 2.9's signature has none.
    Substitution(
        "radau5-solout-signature",
        ("assimulo/thirdparty/hairer/radau_decsol.pyf",),
        r"(subroutine solout\(.*cont,)(lrc,.*\n(?:.*\n)*? +double precision dimension\()4\*nsolu\) :: cont\n",
        r"\1werr,\g<2>4*nsolu) :: cont\n            double precision dimension(nsolu) :: werr\n",
        1,
    ),
    # 3.0's Fortran reads ipar(1) after `fcn` (negative: retry with a smaller step), and its Python returns it
    # as a second value; in 2.9's signature it is hidden and so stays undefined.
    Substitution(
        "radau5-fcn-flag",
        ("assimulo/thirdparty/hairer/radau_decsol.pyf",),
        r"(intent\(out\) :: y0\n.*:: rpar\n +integer dimension\(1\),intent)\(hide\)"
        r"( :: ipar\n +end subroutine fcn)",
        r"\1(out)\2",
        1,
    ),
    # 3.0 gave Radau5ODE's `_solout` the new argument and forgot Radau5DAE's, which then reads the error
    # weights as `lrc` and `lrc` as the return code.
    Substitution(
        "radau5dae-solout",
        ("assimulo/solvers/radau5.py",),
        r"def _solout\(self, nrsol, told, t, y, cont, lrc, irtrn\)",
        "def _solout(self, nrsol, told, t, y, cont, werr, lrc, irtrn)",
        1,
    ),
    # A table for LSODAR's restarts at order 5 has rows of unequal length. NumPy used to make that an array of
    # lists by itself; left alone it now stops the import of every solver.
    Substitution(
        "odepack-ragged-table",
        ("assimulo/solvers/odepack.py",),
        r"(\[\[0\.(?:,0\.)+\],  # 5th order\n(?:.*\n)*?.*\]\])\)\]",
        r"\1, dtype=object)]",
        1,
    ),
    # NumPy no longer compares an array with an empty list; met after events of runs that report continuously.
    Substitution(
        "event-info-empty-list",
        ("assimulo/ode.pyx",),
        r"event_info\[0\] != \[\]:",
        "len(event_info[0]) > 0:",
        1,
    ),
    # The solvers left out would be announced on standard error at every import, and `import *` would fail on
    # them; GLIMDA's class would be there and fail when it is used.
    Substitution(
        "no-announcement-of-solvers-left-out",
        ("assimulo/solvers/__init__.py",),
        r"(from \.(?:kinsol import KINSOL|sundials import CVode|glimda import GLIMDA)\n"
        r"except ImportError) as ie:\n    sys\.stderr\.write\(.*\)\n",
        r"\1:\n    pass\n",
        3,
    ),
    Substitution(
        "no-star-import-of-solvers-left-out",
        ("assimulo/solvers/__init__.py",),
        r'"(?:sundials|glimda)",\s*',
        "",
        2,
    ),
    Substitution(
        "no-glimda-without-its-library",
        ("assimulo/solvers/glimda.py",),
        r"sys\.stderr\.write\(\"Could not find GLIMDA\.\\n\"\)",
        "raise",
        1,
    ),
    # TeX in docstrings: a DeprecationWarning where the module is compiled to bytecode, an error for those who
    # make warnings errors.
    Substitution(
        "docstring-escapes",
        tuple(f"assimulo/solvers/{name}.py" for name in ("dasp3", "odepack", "runge_kutta")),
        r"(?<!\\)\\(?=dot|quad|mathrm|;)",
        r"\\\\",
        14,
    ),
)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: build_assimulo.py WHEEL_DIRECTORY")
    if sys.version_info >= (3, 12):
        sys.exit("build_assimulo: needs numpy.distutils, which Python 3.12 and later do not have")
    wheels = Path(sys.argv[1]).resolve()
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-assimulo-") as folder:
        work = Path(folder)
        run(sys.executable, "-m", "venv", str(work / "venv"))
        python = str(work / "venv" / "bin" / "python")
        # Before NumPy is there: then the releases' setup.py stops at its first line and touches nothing.
        source = fetch(python, BASE, work)
        add_signatures(fetch(python, SIGNATURES, work), source)
        substitute(source)
        remove_generated_c(source)
        run(python, "-m", "pip", "install", "--quiet", *BUILD_REQUIREMENTS)
        build(python, source, wheels)


def fetch(python: str, version: str, work: Path) -> Path:
    """The unpacked source release, through pip's own index settings, its hash checked.

    Neither release gets through pip's metadata step, so `pip download` is asked to leave behind what it has
    unpacked by then; that it fails afterwards is expected.
    """
    requirement = work / f"{version}.txt"
    requirement.write_text(f"assimulo=={version} --hash=sha256:{SHA256[version]}\n")
    unpacked = work / version
    unpacked.mkdir()
    download = [python, "-m", "pip", "download", "--no-clean", "--no-deps", "--no-build-isolation"]
    download += ["--no-binary", "assimulo", "--require-hashes", "-r", str(requirement), "-d", str(work)]
    done = subprocess.run(download, env={**os.environ, "TMPDIR": str(unpacked)}, capture_output=True, text=True)
    found = sorted(unpacked.glob("pip-download-*/assimulo_*/setup.py"))
    if len(found) != 1:
        sys.exit(f"build_assimulo: could not get the source of Assimulo {version}:\n{done.stdout}{done.stderr}")
    return found[0].parent


def add_signatures(older: Path, source: Path) -> None:
    """Copy the f2py signature files which `source` lacks."""
    for signature in sorted(older.glob("assimulo/thirdparty/*/*.pyf")):
        target = source / signature.relative_to(older)
        if not target.exists():
            shutil.copy2(signature, target)


def substitute(source: Path) -> None:
    for each in SUBSTITUTIONS:
        count = 0
        for path in sorted(found for pattern in each.files for found in source.glob(pattern)):
            text, changes = re.subn(each.old, each.new, path.read_text(encoding="utf-8"))
            if changes:
                path.write_text(text, encoding="utf-8")
            count += changes
        if count != each.count:
            sys.exit(f"build_assimulo: substitution {each.name} matched {count} times instead of {each.count}")
        print(f"build_assimulo: {each.name}: {count}")


def remove_generated_c(source: Path) -> None:
    """The C that comes with the release is Cython's of 2018, for the C API of Python 3.7."""
    for module in source.glob("assimulo/**/*.pyx"):
        module.with_suffix(".c").unlink(missing_ok=True)


def build(python: str, source: Path, wheels: Path) -> None:
    # One job: the extensions share one Fortran compiler, whose flags numpy.distutils sets up for each of them.
    parallel = ["build", "--parallel=1"]
    # A path without SUNDIALS, so that one in /usr/local, of whatever version, is not picked up.
    without = f"--sundials-home={source / 'none'}"
    setup = [python, "setup.py", without, *parallel, "bdist_wheel", "--dist-dir", str(wheels)]
    # The folder's name is random, and would be in what is compiled.
    unnamed = f"-ffile-prefix-map={source}=assimulo -ffile-prefix-map={Path(python).parents[1]}=venv"
    environment = {**os.environ, **BUILD_ENVIRONMENT}
    for flags in ("CFLAGS", "FFLAGS"):
        environment[flags] = f"{environment.get(flags, '')} {unnamed}".strip()
    run(*setup, cwd=source, env=environment)


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command; what it printed is shown only if it fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-60:]), file=sys.stderr)
        sys.exit(f"build_assimulo: failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
