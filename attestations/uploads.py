"""Files that come with a form: how much of them is taken in, and what they are."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler

from attestations.values import Upload
from runs.manifests.errors import ManifestError
from runs.manifests.intake import load_document

LARGEST: Final = 1024 * 1024  # bytes of a file
LARGEST_REQUEST: Final = 4 * 1024 * 1024  # bytes of a form with its file; nothing more is read at all
_TEXT_CONTROLS: Final = frozenset("\t\n\r\f")
JSON: Final = "application/json"
TEXT: Final = "text/plain"


class BoundedUploadHandler(MemoryFileUploadHandler):
    """Keeps a file in memory up to its limit, and of a larger one just enough to say that it is too large.

    The rest of the form is still read, so that nobody loses what they wrote over a file.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        """Refuse a request that is larger than any form of ours, before anything of it is read."""
        if content_length > LARGEST_REQUEST:
            raise RequestDataTooBig("The form and its file are larger than 4 MiB.")
        self.activated = True

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Take a piece in, up to one byte above the limit."""
        room = LARGEST + 1 - self.file.tell()
        if room > 0:
            self.file.write(raw_data[:room])
        return None


class BadUpload(ValueError):
    """The file is none that is taken; the message says why, for the person who chose it."""


def examine(name: str, content: bytes) -> Upload:
    """What a file is, by its content and not by what its sender says. Raises BadUpload."""
    if len(content) > LARGEST:
        raise BadUpload("The file is larger than 1 MiB.")
    if not content.strip():
        raise BadUpload("The file is empty.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadUpload("The file is neither JSON nor UTF-8 text.") from error
    if any(ord(character) < 32 and character not in _TEXT_CONTROLS for character in text):
        raise BadUpload("The file holds control characters, so it is no text.")
    if not name.lower().endswith(".json"):
        return Upload(content, TEXT)
    if text.removeprefix("\ufeff").lstrip()[:1] not in {"{", "["}:
        raise BadUpload("The file is named .json and is no JSON object or list.")
    try:
        load_document(content)
    except ManifestError as error:
        raise BadUpload(f"The file is named .json and is no JSON: {error.problems[0]}") from error
    return Upload(content, JSON)
