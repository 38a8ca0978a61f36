"""Releases on a package index: the source distribution of a version, found and fetched as pip would."""

from __future__ import annotations

import ast
import hashlib
import io
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import requests
from pypi_simple import PYPI_SIMPLE_ENDPOINT, NoSuchProjectError, PyPISimple, UnsupportedContentTypeError
from requests.adapters import BaseAdapter

from runs.manifests.bundle import Snapshot
from runs.sources.liger.archive import MAX_ARCHIVE, PROJECT, Release, read_sdist, snapshot
from runs.sources.liger.rows import SourceError

TIMEOUT = (10.0, 60.0)
"""Seconds to connect, and between two pieces of an answer."""

_CHUNK = 1 << 16

Progress = Callable[[int, int | None], None]
"""Called with the bytes that came so far and, where the index says it, how many there are."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where pip looks for packages: indexes in order, a file of certificates to trust, and one to present."""

    indexes: tuple[str, ...]
    certificates: str | None = None
    client_certificate: str | None = None


@dataclass(frozen=True, slots=True)
class Sdist:
    """A source distribution on an index; `sha256` in hex, `size` in bytes where the index says it."""

    version: str
    filename: str
    url: str
    sha256: str
    size: int | None


def pip_settings() -> Settings:
    """pip's own settings, from its files and PIP_ variables; what pip would do where there are none.

    Raises SourceError where pip is told to use no index.
    """
    asked = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    return parse_pip_settings(asked.stdout if asked.returncode == 0 else "")


def parse_pip_settings(listing: str) -> Settings:
    """Settings from the output of `pip config list`; variables come before `[download]`, `[install]`, `[global]`."""
    values: dict[str, str] = {}
    for line in listing.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            values[name] = str(ast.literal_eval(value))

    def value_of(name: str) -> str | None:
        keys = (f"{section}.{name}" for section in (":env:", "download", "install", "global"))
        return next((values[key] for key in keys if values.get(key)), None)

    if (value_of("no-index") or "").lower() in ("1", "true", "yes", "on"):
        raise SourceError("pip is set to use no index (no-index); give the path of a source distribution")
    extra = (value_of("extra-index-url") or "").split()
    return Settings(
        indexes=(value_of("index-url") or PYPI_SIMPLE_ENDPOINT, *extra),
        certificates=value_of("cert"),
        client_certificate=value_of("client-cert"),
    )


def fetch_release(
    version: str,
    settings: Settings,
    *,
    progress: Progress | None = None,
    retrieved_at: str | None = None,
) -> tuple[Release, Snapshot]:
    """The benchmark files of a release and the snapshot that says what was read.

    Raises SourceError where no index has it, none answers, or what comes is not what the index promised.
    """
    with _session(settings) as session:
        sdist = _find(version, settings, session)
        data = _download(sdist, session, progress)
    release = read_sdist(data)
    if release.version != version:
        raise SourceError(f"{sdist.filename} holds liger-kernel {release.version}, not {version}")
    address = sdist.url if sdist.url.startswith("https://") else None
    return release, snapshot(version, data, url=address, retrieved_at=retrieved_at)


def _session(settings: Settings) -> requests.Session:
    session = requests.Session()
    session.mount("file://", _Files())
    if settings.certificates is not None:
        session.verify = settings.certificates
    session.cert = settings.client_certificate
    return session


def _find(version: str, settings: Settings, session: requests.Session) -> Sdist:
    faults: list[str] = []
    for index in settings.indexes:
        try:
            page = PyPISimple(index, session=session).get_project_page(PROJECT, timeout=TIMEOUT)
        except NoSuchProjectError:
            continue
        except (requests.RequestException, UnsupportedContentTypeError, ValueError) as error:
            faults.append(f"{_named(index)} did not answer ({type(error).__name__})")
            continue
        for package in page.packages:
            if package.package_type != "sdist" or package.version != version:
                continue
            sha256 = package.digests.get("sha256")
            if sha256 is None:
                raise SourceError(f"{_named(index)} states no SHA-256 for {package.filename}; nothing was fetched")
            return Sdist(version, package.filename, urldefrag(package.url).url, sha256, package.size)
    if faults:
        raise SourceError(f"{'; '.join(faults)}: check the network, or give the path of a source distribution")
    raise SourceError(f"no index has a source distribution of {PROJECT} {version}; check the version")


def _download(sdist: Sdist, session: requests.Session, progress: Progress | None) -> bytes:
    data = bytearray()
    try:
        with session.get(sdist.url, stream=True, timeout=TIMEOUT) as answer:
            answer.raise_for_status()
            for piece in answer.iter_content(_CHUNK):
                data += piece
                if len(data) > MAX_ARCHIVE:
                    raise SourceError(f"{sdist.filename} has more than {MAX_ARCHIVE:,} bytes")
                if progress is not None:
                    progress(len(data), sdist.size)
    except requests.RequestException as error:
        raise SourceError(f"{sdist.filename} could not be fetched ({type(error).__name__}); try again") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sdist.sha256.lower():
        raise SourceError(f"{sdist.filename} has the SHA-256 {found}, but the index states {sdist.sha256}")
    return bytes(data)


def _named(index: str) -> str:
    """An index without the credentials that its address may hold."""
    parts = urlsplit(index)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


class _Files(BaseAdapter):
    """Indexes on disk, which pip takes too: a folder answers with its index.html."""

    def send(  # noqa: PLR0917 — the signature is that of requests
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        answer = requests.Response()
        answer.url = request.url or ""
        answer.request = request
        path = Path(unquote(urlsplit(answer.url).path))
        page = path / "index.html" if path.is_dir() else path
        try:
            with page.open("rb") as file:
                # One byte more than an archive may have, so that the limit is noticed.
                answer.raw, answer.status_code = io.BytesIO(file.read(MAX_ARCHIVE + 1)), HTTPStatus.OK
        except OSError:
            answer.raw, answer.status_code = io.BytesIO(), HTTPStatus.NOT_FOUND
        answer.headers["Content-Type"] = "text/html" if page.suffix == ".html" else "application/octet-stream"
        return answer

    def close(self) -> None:
        """Nothing is kept open."""
