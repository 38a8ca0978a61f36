import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex import pages
from kernelindex.build import build
from kernelindex.negotiation import best_encoding, prefers_json
from kernelindex.pages import Shelf, Version


def test_a_shelf_gives_back_the_current_version_alone():
    shelf = Shelf()
    shelf.put("a", "1", "", b"one")
    assert shelf.find("a", "1", "") == b"one"
    assert shelf.find("a", "2", "") is None
    assert shelf.find("a", "1", "gzip") is None
    assert shelf.find("b", "1", "") is None


def test_a_new_version_drops_every_encoding_of_the_old_one():
    shelf = Shelf()
    shelf.put("a", "1", "", b"one")
    shelf.put("a", "1", "gzip", b"packed")
    assert shelf.find("a", "1", "gzip") == b"packed"
    shelf.put("a", "2", "", b"two")
    assert shelf.find("a", "2", "gzip") is None
    assert shelf.find("a", "2", "") == b"two"


def test_a_shelf_drops_what_was_asked_for_least_recently():
    shelf = Shelf(budget=3 * 1200)
    for name in "abc":
        shelf.put(name, "1", "", b"x" * 100)
    shelf.find("a", "1", "")
    shelf.put("d", "1", "", b"x" * 100)
    assert shelf.find("a", "1", "") is not None
    assert shelf.find("b", "1", "") is None


def test_a_body_too_large_to_keep_is_not_kept():
    shelf = Shelf()
    shelf.put("a", "1", "", b"x" * (pages.LARGEST + 1))
    assert shelf.find("a", "1", "") is None
    assert shelf.size == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from(["", "br"]), st.integers(0, 4000))))
def test_a_shelf_never_exceeds_its_budget_and_never_gives_what_was_not_put(steps):
    shelf, put = Shelf(budget=10_000), {}
    for name, version, encoding, length in steps:
        body = bytes([name, version, len(encoding)]) + b"x" * length
        shelf.put(name, str(version), encoding, body)
        put[name, str(version), encoding] = body
        assert 0 <= shelf.size <= 10_000
    for (name, version, encoding), body in put.items():
        assert shelf.find(name, version, encoding) in {None, body}
    shelf.clear()
    assert shelf.size == 0


def test_a_shelf_serves_several_threads():
    shelf = Shelf(budget=20_000)

    def work(number):
        for step in range(2000):
            name = (number + step) % 30
            shelf.put(name, str(step % 3), "", bytes([name, step % 3]) * 50)
            found = shelf.find(name, str(step % 3), "")
            assert found in {None, bytes([name, step % 3]) * 50}

    failures = []
    threads = [threading.Thread(target=lambda n=n: failures.append(run(n))) for n in range(4)]

    def run(number):
        try:
            work(number)
        except AssertionError as error:
            return error
        return None

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [None] * 4
    assert shelf.size <= 20_000


def test_a_tag_changes_with_the_page_its_parts_and_the_build(monkeypatch):
    version = Version(("a", 1), 0.0)
    tags = {
        version.tag("x"),
        version.tag("y"),
        Version(("a", 2), 0.0).tag("x"),
        Version(("a", 1, None), 0.0).tag("x"),
    }
    assert len(tags) == 4
    assert Version(("a", 1), 5.0).tag("x") in tags
    monkeypatch.setattr(pages, "build", lambda: ("another build", 0.0))
    assert version.tag("x") not in tags


def test_the_build_is_known_by_its_files(tmp_path, settings):
    build.cache_clear()
    settings.BASE_DIR = tmp_path
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "a.html").write_text("one")
    first = build()
    build.cache_clear()
    assert build() == first
    (tmp_path / "templates" / "a.html").write_text("two")
    build.cache_clear()
    assert build()[0] != first[0]
    build.cache_clear()


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("", ""),
        ("gzip", "gzip"),
        ("br", "br"),
        ("gzip, deflate, br", "br"),
        ("GZIP", "gzip"),
        ("*", "br"),
        ("gzip;q=0", ""),
        ("*;q=0", ""),
        ("br;q=0, *", "gzip"),
        ("br;q=0.2, gzip;q=0.9", "gzip"),
        ("identity", ""),
        ("gzip;q=x", ""),
    ],
)
def test_the_encoding_is_one_that_the_client_takes(header, chosen):
    assert best_encoding(header) == chosen


@given(st.text(max_size=80))
def test_any_header_is_understood_somehow(header):
    assert best_encoding(header) in {"", "gzip", "br"}
    assert prefers_json(header) in {True, False}
