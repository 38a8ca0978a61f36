"""Reading an export: bounded whatever the file holds, and refused as a whole where it is not what it says."""

from __future__ import annotations

import hashlib
import resource
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from runs.sources.catalog import stream
from runs.sources.catalog.stream import MAX_LINE, Export, ExportError

LINES = [b'{"table":"a","row":{}}', b"", b'{"table":"b","row":{}}']


def read(path: Path) -> list[tuple[int, bytes]]:
    return list(Export(path).lines())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.jsonl"


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_it_yields_the_lines_with_their_numbers(path, end, packed):
    data = b"\n".join(LINES) + end
    path.write_bytes(zstandard.ZstdCompressor().compress(data) if packed else data)
    export = Export(path)
    assert list(export.lines()) == [(1, LINES[0]), (3, LINES[2])]
    assert export.digest == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    assert export.size == path.stat().st_size


def test_several_frames_are_one_export(path):
    packer = zstandard.ZstdCompressor()
    path.write_bytes(packer.compress(b"one\ntw") + packer.compress(b"o\nthree\n"))
    assert read(path) == [(1, b"one"), (2, b"two"), (3, b"three")]


def test_lines_longer_than_what_is_read_at_once_stay_whole(path):
    long = b"x" * 1_000_000
    path.write_bytes(b"a\n" + long + b"\nb")
    assert read(path) == [(1, b"a"), (2, long), (3, b"b")]


def test_an_empty_file_has_no_lines(path):
    path.write_bytes(b"")
    assert read(path) == []


@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_a_compressed_file_that_is_cut_off_is_refused(path, keep):
    packed = zstandard.ZstdCompressor().compress(b"".join(b"%d a line\n" % n for n in range(50_000)))
    path.write_bytes(packed[: int(len(packed) * keep)])
    with pytest.raises(ExportError, match="cut off"):
        read(path)


def test_a_compressed_file_that_was_changed_is_refused(path):
    packer = zstandard.ZstdCompressor(write_checksum=True)
    packed = bytearray(packer.compress(b"".join(b"%d a line\n" % n for n in range(50_000))))
    packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(ExportError):
        read(path)


def test_a_line_of_a_gigabyte_is_refused_before_it_is_held(path):
    with path.open("wb") as file:
        file.truncate(1024**3)  # zeros, and no end of a line
    tracemalloc.start()
    try:
        with pytest.raises(ExportError, match="line 1 is longer than"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 6 * MAX_LINE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("content", [b"\0", b"\n", b"{}\n"])
def test_a_bomb_goes_off_outside(path, content):
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    piece = content * (16 * 1024**2 // len(content))
    with path.open("wb") as file:
        for _ in range(16):  # 256 MiB in some tens of kilobytes
            file.write(packer.compress(piece))
        file.write(packer.flush())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ExportError, match=r"longer"):
        read_and_forget(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024  # kilobytes


def read_and_forget(path: Path) -> None:
    for _ in Export(path).lines():
        pass


def test_a_window_that_asks_for_too_much_memory_is_refused(path):
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters)
    with path.open("wb") as file, packer.stream_writer(file) as out:
        out.write(b"a line\n")
    with pytest.raises(ExportError, match="memory"):
        read(path)


def test_an_export_longer_than_the_bound_is_refused(path, monkeypatch):
    monkeypatch.setattr(stream, "MAX_TOTAL", 10)
    path.write_bytes(b"a\n" * 6)
    with pytest.raises(ExportError, match="longer than 10 bytes"):
        read(path)


def test_a_digest_beside_the_export_must_be_its_own(path):
    path.write_bytes(b"a\n")
    beside = path.with_name("export.jsonl.sha256")
    beside.write_text(f"{hashlib.sha256(b'a' + bytes([10])).hexdigest()}  export.jsonl\n")
    assert read(path) == [(1, b"a")]
    for other in ("0" * 64, "", "nonsense"):
        beside.write_text(other)
        with pytest.raises(ExportError, match="is not the file"):
            read(path)
