"""The lines of an export, plain or compressed with zstd, in bounded memory whatever the file holds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import zstandard

MAX_LINE: Final = 4 * 1024 * 1024
"""The longest line, in bytes: a row with three manifests of 1 MiB, and room."""

MAX_WINDOW: Final = 128 * 1024 * 1024
"""The most memory that a zstd frame may ask of whoever reads it, in bytes."""

MAX_TOTAL: Final = 64 * 1024**3
"""The longest export, in bytes as it is read."""

FREE: Final = 16 * 1024 * 1024
MAX_RATIO: Final = 400
"""Beyond the first `FREE` bytes, how many times longer the lines may be than the file: rows of JSON stay far below."""

_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_CHUNK: Final = 256 * 1024
_PIECE: Final = 512  # of compressed bytes; no piece becomes longer than 128 KiB for each 4 bytes of it
_BESIDE: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})(?:\s.*)?", re.DOTALL)


class ExportError(ValueError):
    """The file as a whole cannot be read. Nothing of it is published."""


class Export:
    """One export file. After `lines` was read to its end, `digest` and `size` describe the bytes of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        """`sha256:…` of the bytes of the file read so far."""
        return f"sha256:{self._hash.hexdigest()}"

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line that is not empty, with its number. Raises ExportError, and OSError where there is no file."""
        number, rest, total = 0, b"", 0
        with self.path.open("rb") as file:
            for chunk in self._plain(file):
                total += len(chunk)
                if total > MAX_TOTAL:
                    raise ExportError(f"{self.path.name}: the export is longer than {MAX_TOTAL:,} bytes")
                at = 0
                while (end := chunk.find(b"\n", at)) >= 0:
                    number += 1
                    line, rest, at = rest + chunk[at:end], b"", end + 1
                    if line.strip():
                        yield number, self._bounded(number, line)
                rest = self._bounded(number + 1, rest + chunk[at:])
        if rest.strip():
            yield number + 1, rest
        self._check_beside()

    def _bounded(self, number: int, line: bytes) -> bytes:
        if len(line) > MAX_LINE:
            raise ExportError(f"{self.path.name}: line {number} is longer than {MAX_LINE:,} bytes")
        return line

    def _plain(self, file: BinaryIO) -> Iterator[bytes]:
        begin = self._read(file)
        if not begin.startswith(_MAGIC):
            while begin:
                yield begin
                begin = self._read(file)
            return
        try:
            yield from self._unpacked(file, begin)
        except zstandard.ZstdError as error:
            raise ExportError(f"{self.path.name}: {error}") from error

    def _unpacked(self, file: BinaryIO, compressed: bytes) -> Iterator[bytes]:
        """The content of every frame. What one small piece becomes is bounded, so the bomb goes off outside."""
        total, unpacker = 0, _unpacker()
        while compressed:
            for at in range(0, len(compressed), _PIECE):
                piece = compressed[at : at + _PIECE]
                while piece:
                    if unpacker.eof:
                        unpacker = _unpacker()
                    chunk = unpacker.decompress(piece)
                    total += len(chunk)
                    if total > FREE + MAX_RATIO * self.size:
                        raise ExportError(
                            f"{self.path.name}: becomes more than {MAX_RATIO} times longer when it is decompressed"
                        )
                    yield chunk
                    piece = unpacker.unused_data if unpacker.eof else b""
            compressed = self._read(file)
        if not unpacker.eof:
            raise ExportError(f"{self.path.name}: the compressed file is cut off")

    def _read(self, file: BinaryIO) -> bytes:
        chunk = file.read(_CHUNK)
        self._hash.update(chunk)
        self.size += len(chunk)
        return chunk

    def _check_beside(self) -> None:
        """Where a digest file lies beside the export, the export must be what it says."""
        beside = self.path.with_name(f"{self.path.name}.sha256")
        if not beside.is_file():
            return
        stated = _BESIDE.fullmatch(beside.read_bytes()[:1000].decode(errors="replace"))
        if stated is None or f"sha256:{stated[1]}" != self.digest:
            raise ExportError(f"{self.path.name}: is not the file that {beside.name} states the digest of")


def _unpacker() -> zstandard.ZstdDecompressionObj:
    return zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
