"""Hostile text: what hides, reorders, scripts or floods does not get onto a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attestations.markdown import MOST_LINKS, count_links, render
from attestations.text import clean, clean_line

ALLOWED = {"a", "blockquote", "br", "code", "em", "li", "ol", "p", "pre", "strong", "ul"}


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\u202eb\u2066c\u200fd", "abcd"),  # bidirectional overrides, isolates, marks
        ("re\u200bpro\u2060du\ufeffced", "reproduced"),  # zero-width
        ("pay\u200dpal", "paypal"),  # a joiner between Latin letters
        ("می\u200cخواهم", "می\u200cخواهم"),  # a non-joiner that Persian needs
        ("क्\u200dष", "क्\u200dष"),  # a joiner that Devanagari needs
        ("a\u200d\u200d\u200db", "ab"),
        ("\U000e0041\U000e0042x", "x"),  # tags
        ("a\x00\x07\x1b[31mb", "a[31mb"),
        ("e\u0301", "é"),
        ("x" + "\u0301" * 50, "x" + "\u0301" * 4),  # marks piled up
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\u2028b", "a\nb"),
        ("\u3164\u2800", ""),  # letters that show nothing
        ("  a  ", "a"),
    ],
)
def test_what_cannot_be_seen_is_not_kept(text, cleaned):
    assert clean(text) == cleaned


def test_a_line_is_one_line():
    assert clean_line("NVIDIA\n  B200\t ") == "NVIDIA B200"


@given(st.text(max_size=200))
def test_cleaning_is_done_once(text):
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](http://example.org)",
        "[x](//example.org)",
        "[x](/admin/logout/)",
        "[x](vbscript:x)",
        "<javascript:alert(1)>",
        "![x](https://example.org/pixel.png)",
        "<svg/onload=alert(1)>",
        "<a href=https://example.org onclick=alert(1)>x</a>",
        "`<script>`\n\n```\n<script>alert(1)</script>\n```",
        "# A heading\n\n---\n\n| a | b |\n|---|---|\n",
        '[x](https://example.org "onmouseover=alert(1)")',
        "[x](https://example.org/\"onmouseover='alert(1))",
        ">" * 4000,
        "[" * 4000,
        "*a **b " * 500,
        "- " * 1000,
    ],
    ids=lambda text: text[:30],
)
def test_no_text_becomes_more_than_the_subset(text):
    for tag, attributes in Elements(render(text)).found:
        assert tag in ALLOWED
        if tag == "a":
            assert set(attributes) <= {"href", "rel"}
            assert attributes.get("href", "https://").startswith("https://")
            assert attributes["rel"] == "nofollow ugc noopener noreferrer"
        else:
            assert attributes == {}


@given(st.text(alphabet="<>[]()*_`#!-+ \n\"'=&:/ahrefscipt", max_size=120))
def test_no_mixture_of_marks_becomes_more_than_the_subset(text):
    assert {tag for tag, _ in Elements(render(text)).found} <= ALLOWED
    assert not re.search(r"<[^>]*\son\w+=", render(text))


def test_the_subset_works():
    html = render("*a* **b** `c`\n\n- one\n- two\n\n> said\n\n[link](https://example.org/x)")
    assert [tag for tag, _ in Elements(html).found] == [
        "p", "em", "strong", "code", "ul", "li", "li", "blockquote", "p", "p", "a",
    ]  # fmt: skip


def test_a_thousand_addresses_are_counted():
    assert count_links("https://a.example " * 1000) == 1000
    assert count_links("see https://a.example") <= MOST_LINKS
