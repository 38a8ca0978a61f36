"""Archives: the benchmark files come out, and nothing that an archive can do to its reader."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile

import pytest

from runs.sources.liger import archive
from runs.sources.liger.archive import read_local, read_sdist
from runs.sources.liger.build import build_bundle
from runs.sources.liger.rows import SourceError
from tests.sources.lines import document, line

ROOT = "liger_kernel-0.9.0"
DATA = f"{ROOT}/benchmark/data/all_benchmark_data.csv"
CONTENT = document(line())


def member(name, **attributes):
    info = tarfile.TarInfo(name)
    for attribute, value in attributes.items():
        setattr(info, attribute, value)
    return info


def packed(*members):
    """A gzipped tar archive of (name or TarInfo, content)."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members:
            info = member(name) if isinstance(name, str) else name
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def test_only_the_benchmark_files_come_out():
    release = read_sdist(
        packed(
            (f"{ROOT}/README.md", b"x"),
            (f"{ROOT}/benchmark/data/notes.txt", b"x"),
            (f"{ROOT}/benchmark/data/deeper/other.csv", b"x"),
            (f"{ROOT}/benchmark/data/all_benchmark_data_cutile.csv", b"2"),
            (DATA, CONTENT),
            (f"{ROOT}/test/benchmark/data/copy.csv", b"x"),
        )
    )
    assert release.version == "0.9.0"
    assert release.files == {"all_benchmark_data.csv": CONTENT, "all_benchmark_data_cutile.csv": b"2"}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("/etc/passwd", "outside of itself"),
        (f"{ROOT}/../../x.csv", "outside of itself"),
        (f"../{DATA}", "outside of itself"),
        (member(DATA, type=tarfile.SYMTYPE, linkname="/etc/passwd"), "no regular file"),
        (member(DATA, type=tarfile.LNKTYPE, linkname=f"{ROOT}/README.md"), "no regular file"),
        (member(DATA, type=tarfile.FIFOTYPE), "no regular file"),
        (member(DATA, type=tarfile.CHRTYPE), "no regular file"),
        ("other-1.0/benchmark/data/x.csv", "no source distribution of liger-kernel"),
    ],
)
def test_it_refuses_what_no_honest_archive_holds(name, complaint):
    with pytest.raises(SourceError, match=complaint):
        read_sdist(packed((name, b"")))


def test_it_refuses_two_files_of_one_name():
    with pytest.raises(SourceError, match="twice"):
        read_sdist(packed((DATA, b"1"), (DATA, b"2")))


def test_it_refuses_data_files_below_two_roots():
    with pytest.raises(SourceError, match="no source distribution"):
        read_sdist(packed((DATA, b"1"), ("liger_kernel-0.9.1/benchmark/data/x.csv", b"2")))


def test_it_refuses_an_archive_without_data():
    with pytest.raises(SourceError, match=r"no benchmark/data/\*\.csv"):
        read_sdist(packed((f"{ROOT}/README.md", b"x")))


@pytest.mark.parametrize(
    ("limit", "value", "complaint"),
    [
        ("MAX_UNPACKED", 20_000, "unpacks to more than"),
        ("MAX_MEMBERS", 2, "more than 2 members"),
        ("MAX_FILE", 3, "more than 3"),
        ("MAX_FILES", 0, "more than 0 benchmark files"),
    ],
)
def test_it_refuses_more_than_the_limits(monkeypatch, limit, value, complaint):
    data = packed((f"{ROOT}/a", b"0" * 30_000), (f"{ROOT}/b", b""), (DATA, CONTENT))
    if limit != "MAX_UNPACKED":
        data = packed((f"{ROOT}/a", b""), (DATA, CONTENT), (f"{ROOT}/c", b""))
    monkeypatch.setattr(archive, limit, value)
    with pytest.raises(SourceError, match=complaint):
        read_sdist(data)


def test_a_bomb_stops_at_the_limit(monkeypatch):
    monkeypatch.setattr(archive, "MAX_UNPACKED", 4 * 2**20)
    bomb = packed((f"{ROOT}/zeros", b"\0" * (64 * 2**20)), (DATA, CONTENT))
    assert len(bomb) < 2**18
    with pytest.raises(SourceError, match="unpacks to more than"):
        read_sdist(bomb)


@pytest.mark.parametrize(
    "broken",
    [b"", b"no archive", gzip.compress(b"no tar " * 200), packed((DATA, CONTENT))[:-40]],
    ids=["empty", "no archive", "no tar", "cut"],
)
def test_a_broken_archive_is_said_to_be_broken(broken):
    with pytest.raises(SourceError, match=r"broken|no benchmark/data"):
        read_sdist(broken)


def test_a_local_archive_is_read_with_its_snapshot(tmp_path):
    data = packed((DATA, CONTENT))
    path = tmp_path / "any-name.tar.gz"
    path.write_bytes(data)
    local = read_local(path, retrieved_at="2026-12-01T00:00:00.000Z")
    snapshot = local.snapshot
    assert local.files == {"all_benchmark_data.csv": CONTENT}
    assert (snapshot.name, snapshot.version, snapshot.license) == ("liger-kernel", "0.9.0", "BSD-2-Clause")
    assert snapshot.digest == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert (snapshot.size, snapshot.retrieved_at) == (len(data), "2026-12-01T00:00:00.000Z")


def test_a_local_archive_over_the_limit_is_not_read(monkeypatch, tmp_path):
    path = tmp_path / "large.tar.gz"
    path.write_bytes(packed((DATA, CONTENT)))
    monkeypatch.setattr(archive, "MAX_ARCHIVE", 10)
    with pytest.raises(SourceError, match="more than 10"):
        read_local(path)


def test_a_local_csv_file_is_its_own_snapshot(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(CONTENT)
    local = read_local(path)
    assert local.snapshot.name == "mine.csv"
    assert local.snapshot.digest == f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    bundle, report = build_bundle(local.files, local.snapshot)
    assert report.published == 1
    assert bundle.snapshot == local.snapshot
