"""The page of the seed record beside the public page of the same record, line by line."""

import html
import re
from html.parser import HTMLParser

import pytest

from tests.shared_data import SHARED, needs_shared

PUBLIC_PAGE = SHARED / "seed-run-page.txt"
# What the public page offers and this one does not, and the title, which names another database's id.
ABSENT = ("Add a reproduction or note", "Report an issue with this run")
ANOTHER = "Run 01a0202b · KernelIndex"

pytestmark = [pytest.mark.django_db, needs_shared]


class Text(HTMLParser):
    """What a reader sees in a document's body, without any white space."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag, attributes):
        self.inside = self.inside or tag == "main"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "main"

    def handle_data(self, data):
        if self.inside:
            self.parts.append(data)

    def text(self) -> str:
        return bare("".join(self.parts))


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_the_page_shows_what_the_public_page_shows_in_its_order(client, seed):
    document = client.get(f"/runs/{seed.id}/").content.decode()
    parser = Text()
    parser.feed(document)
    shown, at = parser.text(), 0
    public = PUBLIC_PAGE.read_text()
    manifest = public[public.index("{\n") : public.rindex("}\n") + 2]
    for line in public.replace(manifest, "").splitlines():
        if line.startswith(ABSENT) or line == ANOTHER:
            continue
        own = line.replace("Published 2026-08-20", f"Published {seed.published_at:%Y-%m-%d}")
        wanted = bare(own).rstrip("…").replace("ClauseAll", "Clause|All").split("|")
        for part in wanted:
            found = shown.find(part, at)
            assert found >= 0, f"{line!r} is not shown, or not here"
            at = found + len(part)


def test_the_manifest_is_shown_as_the_public_page_shows_it(client, seed):
    document = client.get(f"/runs/{seed.id}/").content.decode()
    public = PUBLIC_PAGE.read_text()
    manifest = public[public.index("{\n") : public.rindex("}\n") + 1]
    shown = html.unescape(re.search(r'<pre id="manifest-text"[^>]*>(.*?)</pre>', document, re.DOTALL)[1])
    assert shown.strip() == manifest


def test_the_title_of_the_page_names_the_run(client, seed):
    document = client.get(f"/runs/{seed.id}/").content.decode()
    assert f"Run {str(seed.id)[:8]} · KernelIndex</title>" in document
