"""Benchmark files out of a source distribution: read as a stream, never unpacked to disk, and bounded.

Only regular files `<root>/benchmark/data/*.csv` are kept, in memory. What no honest source distribution holds (a path
that leaves the root, a link in place of a data file, two files of one name) refuses the archive as a whole.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from runs.manifests.bundle import Snapshot
from runs.sources.liger.rows import SourceError

PROJECT = "liger-kernel"
LICENSE = "BSD-2-Clause"

MAX_ARCHIVE = 64 * 2**20
"""Bytes of an archive; the largest release has about 7 MB."""

MAX_UNPACKED = 256 * 2**20
"""Bytes that an archive may unpack to; the largest release has 44 MB."""

MAX_MEMBERS = 20_000
"""Members of an archive; the largest release has about 1,000."""

MAX_FILE = 32 * 2**20
"""Bytes of one data file; the largest has under 1 MB."""

MAX_FILES = 32
"""Data files of a release; 0.8.5 has three."""

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_DATA = re.compile(r"(?P<root>[^/]+)/benchmark/data/(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*\.csv)")
_ROOT = re.compile(r"liger[_-]kernel-(?P<version>[0-9][0-9A-Za-z.+!-]*)")
_BROKEN = (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile)


@dataclass(frozen=True, slots=True)
class Release:
    """The benchmark files of a source distribution by name, and its version."""

    version: str
    files: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Local:
    """What a local file gave: the benchmark files by name, and the snapshot that says what was read."""

    files: dict[str, bytes | Path]
    snapshot: Snapshot


def read_sdist(data: bytes) -> Release:
    """The benchmark files of a gzipped tar archive.

    Raises SourceError for an archive that is broken, too large, unsafe, not of Liger-Kernel, or without such files.
    """
    files: dict[str, bytes] = {}
    roots: set[str] = set()
    try:
        for root, name, content in _data_files(data):
            if name in files:
                raise SourceError(f"the archive holds {name} twice")
            roots.add(root)
            files[name] = content
    except _BROKEN as error:
        raise SourceError(f"the archive is broken ({error}); fetch it again") from error
    if not files:
        raise SourceError("the archive holds no benchmark/data/*.csv; releases before 0.5.3 have none")
    match = _ROOT.fullmatch(roots.pop())
    if roots or match is None:
        raise SourceError(
            "the archive is no source distribution of liger-kernel: its folder is not liger_kernel-VERSION"
        )
    return Release(match["version"], dict(sorted(files.items())))


def read_local(path: Path, *, retrieved_at: str | None = None) -> Local:
    """The benchmark files of a local source distribution, or a local CSV file; told apart by their first bytes.

    A CSV file is not read here but when records are made of it. `retrieved_at` is an instant, the snapshot's own.
    Raises SourceError as `read_sdist` does, OSError for a path that cannot be read.
    """
    with path.open("rb") as stream:
        packed = stream.read(len(_GZIP)) == _GZIP
    size = path.stat().st_size
    if packed:
        if size > MAX_ARCHIVE:
            raise SourceError(f"the archive has {size:,} bytes, more than {MAX_ARCHIVE:,}")
        data = path.read_bytes()
        release = read_sdist(data)
        return Local({**release.files}, snapshot(release.version, data, retrieved_at=retrieved_at))
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Local(
        {path.name: path},
        Snapshot(
            name=path.name,
            version="local file",
            digest=f"sha256:{digest}",
            size=size,
            license=LICENSE,
            retrieved_at=retrieved_at,
        ),
    )


def snapshot(version: str, data: bytes, *, url: str | None = None, retrieved_at: str | None = None) -> Snapshot:
    """What was read: a release's source distribution."""
    digest = hashlib.sha256(data).hexdigest()
    return Snapshot(
        name=PROJECT,
        version=version,
        digest=f"sha256:{digest}",
        size=len(data),
        license=LICENSE,
        url=url,
        retrieved_at=retrieved_at,
    )


class _Bounded(io.RawIOBase):
    """The unpacked bytes of a gzip stream, of which no more than `MAX_UNPACKED` come."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._stream = gzip.GzipFile(fileobj=packed, mode="rb")
        self._left = MAX_UNPACKED

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(_CHUNK if size < 0 else min(size, _CHUNK))
        self._left -= len(data)
        if self._left < 0:
            raise SourceError(f"the archive unpacks to more than {MAX_UNPACKED:,} bytes")
        return data


def _data_files(data: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Root folder, name and content of each benchmark file, as the archive streams by."""
    found = 0
    with tarfile.open(fileobj=_Bounded(io.BytesIO(data)), mode="r|") as archive:
        for number, member in enumerate(archive, start=1):
            if number > MAX_MEMBERS:
                raise SourceError(f"the archive has more than {MAX_MEMBERS:,} members")
            if member.name.startswith("/") or ".." in member.name.split("/"):
                raise SourceError(f"the archive names a path outside of itself: {member.name[:100]!r}")
            match = _DATA.fullmatch(member.name)
            if match is None or member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise SourceError(f"{member.name[:100]!r} in the archive is no regular file")
            if member.size > MAX_FILE:
                raise SourceError(f"{member.name[:100]!r} has {member.size:,} bytes, more than {MAX_FILE:,}")
            found += 1
            if found > MAX_FILES:
                raise SourceError(f"the archive has more than {MAX_FILES} benchmark files")
            content = archive.extractfile(member)
            assert content is not None  # a regular file has content
            yield match["root"], match["name"], content.read()
