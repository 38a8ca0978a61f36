"""Package indexes, kept on disk: pip's settings are honoured, and what comes is what the index stated."""

from __future__ import annotations

import hashlib

import pytest

from runs.sources.liger import index
from runs.sources.liger.index import Settings, fetch_release, parse_pip_settings, pip_settings
from runs.sources.liger.rows import SourceError
from tests.sources.test_liger_archive import CONTENT, DATA, packed

SDIST = packed((DATA, CONTENT))
SHA256 = hashlib.sha256(SDIST).hexdigest()


def make_index(folder, *, sha256=SHA256, filename="liger_kernel-0.9.0.tar.gz", data=SDIST):
    project = folder / "liger-kernel"
    project.mkdir(parents=True)
    (project / filename).write_bytes(data)
    fragment = f"#sha256={sha256}" if sha256 else ""
    wheel = '<a href="liger_kernel-0.9.0-py3-none-any.whl">liger_kernel-0.9.0-py3-none-any.whl</a>'
    (project / "index.html").write_text(
        f'<!DOCTYPE html><html><body>{wheel}<a href="{filename}{fragment}">{filename}</a></body></html>'
    )
    return f"{folder.as_uri()}/"


def test_it_fetches_a_release_and_says_what_it_read(tmp_path):
    seen = []
    release, snapshot = fetch_release(
        "0.9.0",
        Settings((make_index(tmp_path / "simple"),)),
        progress=lambda got, size: seen.append((got, size)),
        retrieved_at="2026-12-01T00:00:00.000Z",
    )
    assert release.files == {"all_benchmark_data.csv": CONTENT}
    assert (snapshot.version, snapshot.size, snapshot.digest) == ("0.9.0", len(SDIST), f"sha256:{SHA256}")
    assert snapshot.retrieved_at == "2026-12-01T00:00:00.000Z"
    assert seen[-1] == (len(SDIST), None)


def test_an_extra_index_is_asked_where_the_first_has_it_not(tmp_path):
    (tmp_path / "empty").mkdir()
    empty = f"{(tmp_path / 'empty').as_uri()}/"
    release, _ = fetch_release("0.9.0", Settings((empty, make_index(tmp_path / "more"))))
    assert release.version == "0.9.0"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"sha256": "0" * 64}, "but the index states 0000"),
        ({"sha256": None}, "states no SHA-256"),
        ({"filename": "liger_kernel-0.9.1.tar.gz"}, "no index has a source distribution of liger-kernel 0.9.0"),
    ],
)
def test_it_refuses_what_the_index_does_not_vouch_for(tmp_path, change, complaint):
    settings = Settings((make_index(tmp_path / "simple", **change),))
    with pytest.raises(SourceError, match=complaint):
        fetch_release("0.9.0", settings)


def test_it_refuses_an_archive_of_another_version(tmp_path):
    other = packed(("liger_kernel-0.1.0/benchmark/data/x.csv", CONTENT))
    address = make_index(tmp_path / "simple", data=other, sha256=hashlib.sha256(other).hexdigest())
    with pytest.raises(SourceError, match=r"holds liger-kernel 0\.1\.0, not 0\.9\.0"):
        fetch_release("0.9.0", Settings((address,)))


def test_it_refuses_an_archive_over_the_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(index, "MAX_ARCHIVE", 4096)
    address = make_index(tmp_path / "simple", data=SDIST + bytes(4096))
    with pytest.raises(SourceError, match="more than 4,096 bytes"):
        fetch_release("0.9.0", Settings((address,)))


def test_a_file_that_went_away_is_said_to_be_missing(tmp_path):
    address = make_index(tmp_path / "simple")
    (tmp_path / "simple" / "liger-kernel" / "liger_kernel-0.9.0.tar.gz").unlink()
    with pytest.raises(SourceError, match=r"could not be fetched \(HTTPError\)"):
        fetch_release("0.9.0", Settings((address,)))


def test_an_index_that_does_not_answer_is_named_without_its_password():
    # No adapter speaks this scheme, so nothing leaves the machine.
    settings = Settings(("nowhere://reader:secret@index.example/simple/",))
    with pytest.raises(SourceError, match=r"nowhere://index\.example/simple/ did not answer") as caught:
        fetch_release("0.9.0", settings)
    assert "secret" not in str(caught.value)


LISTING = """\
:env:.cert='/certs/env.pem'
global.cert='/certs/global.pem'
global.client-cert='/certs/me.pem'
global.extra-index-url='https://b.example/simple https://c.example/simple'
global.index-url='https://global.example/simple'
install.index-url='https://install.example/simple'
a line that is no setting
"""


def test_the_settings_of_pip_are_read_in_its_order():
    settings = parse_pip_settings(LISTING)
    assert settings.indexes == (
        "https://install.example/simple",
        "https://b.example/simple",
        "https://c.example/simple",
    )
    assert (settings.certificates, settings.client_certificate) == ("/certs/env.pem", "/certs/me.pem")
    variable = parse_pip_settings(LISTING + ":env:.index-url='https://env.example/simple'\n")
    assert variable.indexes[0] == "https://env.example/simple"


def test_without_settings_the_default_index_is_asked():
    assert parse_pip_settings("") == Settings((index.PYPI_SIMPLE_ENDPOINT,))


def test_pip_told_to_use_no_index_is_obeyed():
    with pytest.raises(SourceError, match="no index"):
        parse_pip_settings("global.no-index='true'\n")


def test_pip_itself_is_asked(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://set.example/simple")
    monkeypatch.setenv("PIP_CERT", "/certs/set.pem")
    settings = pip_settings()
    assert settings.indexes[0] == "https://set.example/simple"
    assert settings.certificates == "/certs/set.pem"
