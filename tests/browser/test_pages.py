"""Every page, at a phone's and a desk's width, in light and dark."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.template.loader import render_to_string

from kernelindex.meta import Meta
from runs.reads.values import Link, RunRow
from tests.browser.conftest import DESK, OFFICE, PAGES, PHONE, PLACES, PRINCIPAL, RUNS

SERIOUS = {"serious", "critical"}
EXPECTED = re.compile("status of (404|410) ")
VISITORS = [
    pytest.param({**device, "color_scheme": scheme}, id=f"{device['viewport']['width']} {scheme}")
    for device in ({"viewport": PHONE, "has_touch": True}, {"viewport": DESK})
    for scheme in ("light", "dark")
]
# A principal page is seen by every visitor; the others, which share its parts, by one with each width and scheme.
SIGHTS = [
    pytest.param(name, visitor.values[0], id=f"{name} {visitor.id}")
    for name in PAGES
    for visitor in (VISITORS if name in PRINCIPAL else (VISITORS[0], VISITORS[3]))
]


def open_folds(page):
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")


def findings(page):
    """The serious findings of axe-core, and landmarks that share a name, each with what it found."""
    return [
        (finding["id"], [node["html"][:120] for node in finding["nodes"]])
        for finding in Axe().run(page).response["violations"]
        if finding["impact"] in SERIOUS or finding["id"] == "landmark-unique"
    ]


def listened(page):
    """What the console says from here on, but for the status of a missing page, which the browser repeats there."""
    complaints = []

    def hear(message):
        if message.type in {"error", "warning"} and not EXPECTED.search(message.text):
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


def candidates():
    prefix, at = "sha256:5cde9b90d5f9", datetime(2026, 2, 28, tzinfo=UTC)
    link, workload = Link("name", "GroupNorm", "/runs/"), "batch = 128 · hidden = 512 · channels_per_group = 4 · fp32"
    rows = [
        RunRow(
            id=uuid4(),
            digest=prefix + digit * 52,
            title="",
            implementation="Transformers",
            operation=link,
            workload=workload,
            hardware=link,
            source=link,
            status="passed",
            level="reported",
            primary=None,
            rank=None,
            observed_at=at,
            published_at=at,
            illustrative=False,
            protocol="Liger benchmark harness · backward pass",
            disputed=False,
        )
        for digit in "ab"
    ]
    meta = Meta("Several runs", "More than one run.", "https://example.org/")
    return render_to_string("runs/candidates.html", {"candidates": rows, "prefix": prefix, "meta": meta})


def overflow(page):
    """By how many pixels the page is wider than its window, and what sticks out."""
    return page.evaluate(
        """() => {
          const over = document.documentElement.scrollWidth - innerWidth
          const inside = (element) => element.closest(".scrolling, pre, select, .visually-hidden")
          const wide = [...document.body.querySelectorAll("*")].filter(
            (element) => !inside(element) && element.getBoundingClientRect().right > innerWidth + 0.5)
          return [Math.max(over, 0), wide.map((element) => element.outerHTML.slice(0, 80))]
        }"""
    )


def small_targets(page):
    """What a finger would miss: under 44 pixels high. The label of a box or a circle counts with it."""
    return page.evaluate(
        """() => [...document.querySelectorAll(
            "button, input:not([type=hidden]), select, textarea, summary, nav a, .links a, .wordmark")]
          .map((element) => /^(radio|checkbox)$/.test(element.type) ? element.closest("label") : element)
          .filter((element) => element.checkVisibility() && !element.closest(".visually-hidden"))
          .filter((element) => element.getBoundingClientRect().height < 44)
          .map((element) => element.outerHTML.slice(0, 100))"""
    )


@pytest.mark.parametrize(("name", "visitor"), SIGHTS)
def test_everybody_can_read_it_and_reach_what_is_on_it(context, site, name, visitor):
    page = context(person=PLACES[name].person, **visitor).new_page()
    complaints = listened(page)
    page.goto(site.path(name))
    open_folds(page)
    assert findings(page) == []
    assert overflow(page) == [0, []]
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((heading) => +heading.tagName[1])")
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels
    if "has_touch" in visitor:
        assert small_targets(page) == []
    assert complaints == []


@pytest.mark.parametrize("name", OFFICE)
@pytest.mark.parametrize("visitor", [VISITORS[0], VISITORS[3]])
def test_what_moderators_read_is_within_reach_of_everybody(context, site, name, visitor):
    page = context(person=PLACES[name].person, **visitor).new_page()
    complaints = listened(page)
    assert page.goto(site.path(name)).status == 200
    found = findings(page)
    # The list of a table is Django's own page: it tells links by colour alone, and slides sideways on a phone.
    if name == "morgan: queue":
        assert {finding for finding, _ in found} <= {"link-in-text-block"}
    else:
        assert found == []
    assert overflow(page)[0] == 0
    assert complaints == []


@pytest.mark.parametrize("visitor", VISITORS)
def test_the_choice_among_runs_of_one_prefix_has_no_finding_either(context, visitor):
    # No two records share 12 digits of a digest, so the page is rendered here and put in the place of another.
    page = context(**visitor).new_page()
    page.route("**/runs/sha256:5cde9b90d5f9/", lambda route: route.fulfill(body=candidates(), content_type="text/html"))
    page.goto("/runs/sha256:5cde9b90d5f9/")
    assert page.get_by_role("main").get_by_role("link").count() == 2
    assert findings(page) == []
    assert overflow(page) == [0, []]


@pytest.mark.parametrize("name", PRINCIPAL)
def test_it_is_usable_at_200_percent_zoom(visit, name):
    # What a window of 1280 by 900 pixels shows at 200 %.
    page = visit(name, viewport={"width": 640, "height": 450}, device_scale_factor=2)
    open_folds(page)
    assert overflow(page) == [0, []]
    assert page.locator("input[type=search]").first.is_visible()
    assert page.get_by_role("navigation", name="Site").get_by_role("link").count() == 6


@pytest.mark.parametrize("name", [name for name in RUNS if name != "run:failed"])
def test_the_figure_of_a_run_is_the_largest_thing_on_its_page(visit, name):
    for viewport in (PHONE, DESK):
        page = visit(name, viewport=viewport)
        largest = page.evaluate(
            """() => {
              const size = (element) => parseFloat(getComputedStyle(element).fontSize)
              return [...document.body.querySelectorAll("*")]
                .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
                .reduce((one, other) => size(other) > size(one) ? other : one).closest("section").className
            }"""
        )
        assert largest == "primary"


def test_a_list_keeps_every_figure_and_state_on_a_phone(visit):
    page = visit("list, filtered", viewport=PHONE)
    assert page.locator(".runs thead").is_hidden()
    headings = page.locator(".runs thead th").all_text_contents()[1:]
    labels = page.evaluate(
        "[...document.querySelectorAll('.runs tbody tr:first-child td')]"
        ".map((cell) => getComputedStyle(cell, '::before').content.replaceAll('\"', ''))"
    )
    assert labels == headings
    assert all(cell.is_visible() for cell in page.locator(".runs tbody td").all())
    assert page.locator(".runs").get_by_text("incorrect numerical").is_visible()


def test_the_measurements_of_a_run_keep_their_units_on_a_phone(visit):
    page = visit("run:full", viewport=PHONE)
    table = page.locator(".measurements")
    for text in ("1.23 ms", "1234567 ns", "1.50 GiB", "1610612736 bytes", "1,000 samples", "samples not published"):
        assert table.get_by_text(text).first.is_visible(), text


def test_paper_shows_the_record_without_what_can_only_be_clicked(visit):
    page = visit("run:seed", color_scheme="dark")
    page.emulate_media(media="print")
    for hidden in (".masthead nav", ".masthead form", ".copy", "details"):
        assert page.locator(hidden).first.is_hidden(), hidden
    assert page.locator(".headline").is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_a_page_has_its_icon_its_json_and_its_preview(visit, site):
    page = visit("run:seed")
    icon = page.request.get(page.locator("link[rel=icon]").get_attribute("href"))
    assert (icon.status, icon.headers["content-type"]) == (200, "image/svg+xml")
    twin = page.request.get(page.locator("link[rel=alternate]").get_attribute("href"))
    assert twin.json()["id"] == site.ids["seed"]
    assert page.locator("meta[property='og:url']").get_attribute("content") == site.url + site.path("run:seed")
    assert page.locator("link[rel=canonical]").get_attribute("href") == site.url + site.path("run:seed")
