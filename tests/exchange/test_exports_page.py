"""Exports are fetched whole or in ranges, and are never anything but the bytes that lie there."""

from __future__ import annotations

import hashlib
import os

import pytest
from django.core.management import call_command

from runs.publication import publish
from tests import factories

pytestmark = pytest.mark.django_db
NAME = "catalog.jsonl.zst"
DATA = bytes(range(256)) * 1_000


@pytest.fixture
def folder(settings, tmp_path):
    settings.STATE_DIR = tmp_path
    folder = tmp_path / "exports"
    folder.mkdir()
    return folder


@pytest.fixture
def file(folder):
    path = folder / NAME
    path.write_bytes(DATA)
    path.with_name(f"{NAME}.sha256").write_text(f"{hashlib.sha256(DATA).hexdigest()}  {NAME}\n")
    return path


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_the_page_lists_what_can_be_fetched(client, file):
    (file.parent / "notes.txt").write_text("no export")
    (file.parent / ".catalog.jsonl.zst.abc").write_text("unfinished")
    (file.parent / "plain.jsonl").write_text("{}\n")
    page = client.get("/exports/").content.decode()
    assert f"/exports/{NAME}" in page
    assert f"sha256:{hashlib.sha256(DATA).hexdigest()}" in page
    listed = client.get("/exports.json").json()["files"]
    assert [(each["name"], each["size"]) for each in listed] == [(NAME, len(DATA)), ("plain.jsonl", 3)]
    assert listed[1]["digest"] is None
    assert client.get("/exports/", headers={"accept": "application/json"}).json()["files"] == listed


def test_there_may_be_none(client, settings, tmp_path):
    settings.STATE_DIR = tmp_path / "absent"
    assert "No export lies here yet." in client.get("/exports/").content.decode()


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        (NAME, "application/zstd"),
        (f"{NAME}.sha256", "text/plain; charset=utf-8"),
        ("plain.jsonl", "application/x-ndjson; charset=utf-8"),
    ],
)
def test_a_file_comes_whole_and_as_it_lies(client, file, name, content_type):
    (file.parent / "plain.jsonl").write_bytes(b"{}\n" * 1_000)
    response = client.get(f"/exports/{name}", headers={"accept-encoding": "gzip, br"})
    assert response.status_code == 200
    assert body(response) == (file.parent / name).read_bytes()
    assert response.headers["Content-Type"] == content_type
    assert response.headers["Content-Length"] == str((file.parent / name).stat().st_size)
    assert response.headers["Accept-Ranges"] == "bytes"
    assert "Content-Encoding" not in response.headers
    assert response.headers["ETag"].startswith('"')


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        ("bytes=255000-", 255_000, 256_000),
        ("bytes=-10", 255_990, 256_000),
        ("bytes=-999999", 0, 256_000),
        ("bytes=10-999999999", 10, 256_000),
    ],
)
def test_a_range_is_the_bytes_that_were_asked_for(client, file, asked, start, stop):
    response = client.get(f"/exports/{NAME}", headers={"range": asked, "accept-encoding": "gzip"})
    assert response.status_code == 206
    assert body(response) == DATA[start:stop]
    assert response.headers["Content-Range"] == f"bytes {start}-{stop - 1}/256000"
    assert response.headers["Content-Length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["bytes=256000-", "bytes=999999-1000000", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused_with_the_length(client, file, asked):
    response = client.get(f"/exports/{NAME}", headers={"range": asked})
    assert response.status_code == 416
    assert response.headers["Content-Range"] == "bytes */256000"


@pytest.mark.parametrize(
    "asked", ["bytes=5-2", "bytes=a-b", "bytes=-", "lines=1-2", "bytes=0-1,5-6", "bytes=" + "9" * 40]
)
def test_what_is_no_single_range_gets_the_whole_file(client, file, asked):
    response = client.get(f"/exports/{NAME}", headers={"range": asked})
    assert response.status_code == 200
    assert len(body(response)) == len(DATA)


def test_a_download_goes_on_only_where_the_file_is_still_the_same(client, file):
    first = client.get(f"/exports/{NAME}")
    body(first)
    etag, changed = first.headers["ETag"], first.headers["Last-Modified"]
    for validator, status in ((etag, 206), (changed, 206), ('"other"', 200), ("Mon, 01 Jan 2024 00:00:00 GMT", 200)):
        response = client.get(f"/exports/{NAME}", headers={"range": "bytes=1-2", "if-range": validator})
        assert response.status_code == status
        body(response)
    assert client.get(f"/exports/{NAME}", headers={"if-none-match": etag}).status_code == 304
    os.utime(file, ns=(1, 1))
    response = client.get(f"/exports/{NAME}", headers={"range": "bytes=1-2", "if-range": etag})
    assert response.status_code == 200
    body(response)


def test_head_says_how_long_it_is(client, file):
    response = client.head(f"/exports/{NAME}", headers={"range": "bytes=0-1"})
    assert (response.status_code, response.headers["Content-Length"]) == (200, "256000")
    response.close()
    assert client.post(f"/exports/{NAME}").status_code == 405


@pytest.mark.parametrize(
    "name",
    ["absent.jsonl", "notes.txt", "..%2Fsecret.jsonl", ".hidden.jsonl", "linked.jsonl", "a%00.jsonl", "folder.jsonl"],
)
def test_nothing_but_exports_can_be_fetched(client, folder, name):
    (folder / "notes.txt").write_text("no export")
    (folder / ".hidden.jsonl").write_text("{}")
    (folder.parent / "secret.jsonl").write_text("{}")
    (folder / "linked.jsonl").symlink_to(folder.parent / "secret.jsonl")
    (folder / "folder.jsonl").mkdir()
    assert client.get(f"/exports/{name}").status_code == 404


def test_the_command_writes_where_the_page_looks(client, folder):
    publish(factories.seed_bundle())
    call_command("export_catalog", folder / NAME)
    fetched = client.get(f"/exports/{NAME}")
    assert hashlib.sha256(body(fetched)).hexdigest() in client.get(f"/exports/{NAME}.sha256").getvalue().decode()
