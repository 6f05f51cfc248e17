"""The files that machine code is made by, as a digest: what is kept on disk is made again when they change."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def sources(*packages: ModuleType) -> str:
    """The digest of all files in the folders of some packages: reading them is quicker than writing text for the
    compiler."""
    digest = hashlib.sha256()
    for package in packages:
        assert package.__file__ is not None
        for file in sorted(Path(package.__file__).parent.glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()
