import dataclasses
import datetime
import json
import re

import bibtexparser
import pytest
import rispy
import yaml
from bibtexparser.middlewares import LatexDecodingMiddleware
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs import citation
from runs.publication import retract
from runs.reads.run_page import run_page

TITLE = "Transformers · GroupNorm · batch = 128 · hidden = 512 · channels = 64 · channels_per_group = 4 · fp32"
STANDING = "rank 2 of 2 in its comparison group as of 2026-12-01"

# What CSL-JSON 1.0 allows for the members that we write (its schema forbids all others).
CSL_TEXT = {"title", "publisher", "genre", "number", "URL", "note"}
CSL_DATES = {"issued", "accessed"}
# The members of CFF 1.2.0 that are required, and those that we add.
CFF_REQUIRED = {"cff-version", "message", "title", "authors"}
CFF_OPTIONAL = {"type", "abstract", "date-released", "url", "identifiers", "license"}


def bibtex_entry(text):
    # LaTeX knows these two names of the braces; the decoder here knows the others.
    text = text.replace(r"\textbraceleft{}", r"\{").replace(r"\textbraceright{}", r"\}")
    library = bibtexparser.parse_string(text, append_middleware=[LatexDecodingMiddleware()])
    assert not library.failed_blocks
    [entry] = library.entries
    return {field.key: field.value for field in entry.fields}


def ris_entry(text):
    [entry] = rispy.loads(text)
    assert "unknown_tag" not in entry
    return entry


def test_the_text_says_all_of_it(cited, page):
    written = citation.text(cited)
    assert written.startswith(f"Liger-Kernel benchmarks. {TITLE}: latency median 73.7 µs.")
    for part in (page.digest, page.permalink, "accessed 2026-12-01", STANDING, "observed 2026-02-28"):
        assert part in written


def test_bibtex_is_read_by_its_parser(cited, page):
    fields = bibtex_entry(citation.bibtex(cited))
    assert fields["title"] == TITLE
    assert fields["author"] == "Liger-Kernel benchmarks"
    assert (fields["url"], fields["urldate"]) == (page.permalink, "2026-12-01")
    assert fields["year"] == str(page.published_at.year)
    assert page.digest in fields["note"]
    assert STANDING in fields["note"]


def test_ris_is_read_by_its_parser(cited, page):
    entry = ris_entry(citation.ris(cited))
    assert entry["type_of_reference"] == "DATA"
    assert (entry["title"], entry["authors"]) == (TITLE, ["Liger-Kernel benchmarks"])
    assert (entry["urls"], entry["access_date"]) == ([page.permalink], "2026/12/01")
    assert entry["accession_number"] == page.digest
    assert STANDING in entry["notes"][0]


def test_csl_json_has_the_shape_of_its_schema(cited, page):
    [item] = json.loads(citation.csl_json(cited))
    assert set(item) == {"id", "type", "author"} | CSL_TEXT | CSL_DATES
    assert item["type"] == "dataset"
    assert all(isinstance(item[name], str) for name in CSL_TEXT)
    assert item["author"] == [{"literal": "Liger-Kernel benchmarks"}]
    for name in CSL_DATES:
        [[year, month, day]] = item[name]["date-parts"]
        datetime.date(year, month, day)
    assert item["accessed"] == {"date-parts": [[2026, 12, 1]]}
    assert (item["title"], item["URL"], item["number"]) == (TITLE, page.permalink, page.digest)
    assert STANDING in item["note"]


def test_cff_has_the_shape_of_its_schema(cited, page):
    document = yaml.safe_load(citation.cff(cited))
    assert set(document) >= CFF_REQUIRED
    assert set(document) <= CFF_REQUIRED | CFF_OPTIONAL
    assert document["cff-version"] == "1.2.0"
    assert document["type"] == "dataset"
    assert document["authors"] == [{"name": "Liger-Kernel benchmarks"}]
    assert document["date-released"] == page.published_at.date()
    assert document["license"] == "BSD-2-Clause"
    assert re.fullmatch(r"https?://\S+", document["url"])
    [identifier] = document["identifiers"]
    assert set(identifier) == {"type", "value", "description"}
    assert (identifier["type"], identifier["value"]) == ("other", page.digest)
    assert STANDING in document["message"]
    assert "accessed 2026-12-01" in document["message"]


def test_cff_names_no_licence_that_spdx_does_not_know(cited):
    other = dataclasses.replace(cited, license="June 9 Researcher Reciprocity License v1.0")
    assert "license" not in yaml.safe_load(citation.cff(other))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1))
def test_any_title_survives_every_form(cited, title):
    title = " ".join(title.split()) or "x"
    odd = dataclasses.replace(cited, title=title, author=title)
    assert json.loads(citation.csl_json(odd))[0]["title"] == title
    assert yaml.safe_load(citation.cff(odd))["title"] == title
    assert ris_entry(citation.ris(odd))["title"].strip() == title
    written = citation.bibtex(odd)
    assert written.count("{") == written.count("}")
    library = bibtexparser.parse_string(written)
    assert not library.failed_blocks
    assert len(library.entries) == 1


@pytest.mark.parametrize("title", [r"50% of a_b & c #1 $x {y} ~z^2 \alpha", "{", "}", "}{", "\\", "a\nb"])
def test_the_characters_of_tex_stand_for_themselves(cited, title):
    odd = dataclasses.replace(cited, title=title)
    fields = bibtex_entry(citation.bibtex(odd))
    # The parser gives TeX's circumflex as the modifier letter.
    assert fields["title"].replace("ˆ", "^") == " ".join(title.split())


def test_a_line_break_cannot_add_a_field_to_ris(cited):
    odd = dataclasses.replace(cited, title="a\r\nUR  - https://evil.example")
    assert ris_entry(citation.ris(odd))["urls"] == [cited.url]


def test_a_retracted_run_says_so_wherever_it_is_cited(page):
    retract(page.digest, reason="wrong", actor="the source")
    found = run_page(page.id)
    cited = citation.citation(found[0], datetime.date(2026, 12, 1))
    for form in citation.FORMS.values():
        written = form.write(cited)
        assert "retracted on " in written
        assert "not ranked as of 2026-12-01" in written


def test_an_illustrative_run_and_one_without_a_figure_say_so(page):
    made_up = dataclasses.replace(page, illustrative=True, primary=None, status="timeout", rank=None)
    written = citation.text(citation.citation(made_up, datetime.date(2026, 12, 1)))
    assert "[illustrative, not measured]" in written
    assert "status timeout" in written


def test_every_form_is_a_link_and_the_text_can_be_read_at_once(page, cited):
    links = citation.links(page, cited)
    assert [link.label for link in links] == ["Plain text", "BibTeX", "RIS", "CSL-JSON", "CFF"]
    assert [link.url.rsplit("/", 1)[1] for link in links] == [
        "cite.txt",
        "cite.bib",
        "cite.ris",
        "cite.csl.json",
        "cite.cff",
    ]
    assert [bool(link.text) for link in links] == [True, False, False, False, False]


def test_the_linked_data_describes_a_dataset(page, cited):
    data = citation.json_ld(page, cited, json_url="https://x/a.json", manifest_url="https://x/manifest.json")
    assert (data["@context"], data["@type"]) == ("https://schema.org", "Dataset")
    assert (data["identifier"], data["url"]) == (page.digest, page.permalink)
    assert data["license"] == "https://spdx.org/licenses/BSD-2-Clause.html"
    assert 50 <= len(data["description"]) <= 5000
    assert [(each["name"], each["value"], each["unitText"]) for each in data["variableMeasured"]] == [
        ("latency median", 73728, "ns"),
        ("latency p20", 71712, "ns"),
        ("latency p80", 73926, "ns"),
    ]
    assert {each["contentUrl"] for each in data["distribution"]} == {"https://x/a.json", "https://x/manifest.json"}
    json.dumps(data)
