"""The ways that readers take, each by keyboard alone, on a phone's and on a desk's width."""

import csv
from pathlib import Path

import pytest

from tests.browser.conftest import DESK, PHONE

MOST_STOPS = 150


@pytest.fixture(params=[PHONE, DESK], ids=["360", "1280"])
def reader(request, context):
    """A visitor on the home page, who has no mouse."""
    page = context(viewport=request.param).new_page()
    page.goto("/")
    return page


def follow(page, link):
    """Tab to a link as often as it takes, and press Enter."""
    link.wait_for()
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if link.evaluate("(element) => element === document.activeElement"):
            break
    else:
        pytest.fail(f"Tab does not reach {link}")
    page.keyboard.press("Enter")


def search(page, words, leads_to="**/search/?q=**"):
    page.keyboard.press("/")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.wait_for_url(leads_to)


def narrow(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_from_the_home_page_to_the_fastest_run(reader, site):
    search(reader, "rmsnorm h100 bf16 hidden=4096")
    chips = reader.get_by_role("list", name="What was understood")
    assert chips.locator(".value").all_text_contents() == ["RMSNorm", "NVIDIA H100 PCIe", "bf16", "4096"]
    exact = reader.get_by_role("region", name="Exact groups")
    row = exact.locator("tbody tr")
    assert row.count() == 1
    for text in ("Liger-Kernel", "41.9 µs", "1 of 2", "NVIDIA H100 PCIe"):
        assert row.get_by_text(text).is_visible(), text
    assert narrow(reader)
    follow(reader, row.get_by_role("link", name="Liger-Kernel"))
    reader.wait_for_url(f"**{site.path('run:rms_norm')}")
    assert reader.locator(".headline").inner_text().split() == ["41.9", "µs", "median"]
    assert reader.get_by_role("link", name="Rank 1 in its comparison group").is_visible()


def test_from_a_run_to_its_group_to_a_comparison_to_its_csv(reader, site, tmp_path):
    search(reader, site.ids["seed"], leads_to=f"**{site.path('run:seed')}")
    follow(reader, reader.get_by_role("link", name="Rank 2 in its comparison group"))
    reader.wait_for_url("**/groups/**")
    assert reader.locator(".ranking .place").all_text_contents()[:2] == ["1", "2"]
    assert narrow(reader)
    follow(reader, reader.get_by_role("link", name="compare with #1 (Transformers, rank 2)"))
    reader.wait_for_url("**/compare/?run=**")
    assert "Liger-Kernel is ahead: rank 1 of" in reader.locator(".said").inner_text()
    assert narrow(reader)
    with reader.expect_download() as download:
        follow(reader, reader.get_by_role("link", name="CSV", exact=True))
    download.value.save_as(tmp_path / "comparison.csv")
    rows = list(csv.reader(Path(tmp_path / "comparison.csv").read_text().splitlines()))
    assert {"67328", "73728"} <= {cell for row in rows for cell in row}


def test_a_search_with_a_typo_is_mended_by_a_link(reader):
    search(reader, "rmsnorm h100 hiden=4096")
    problem = reader.locator(".notice-warning")
    assert "Did you mean" in problem.inner_text()
    assert reader.get_by_role("region", name="Exact groups").locator("tbody tr").count() == 0
    assert narrow(reader)
    follow(reader, problem.get_by_role("link", name="hidden=4096"))
    reader.wait_for_url("**hidden**4096**")
    assert reader.get_by_role("region", name="Exact groups").locator("tbody tr").count() == 1


def test_a_search_that_finds_nothing_says_so_and_leads_on(reader):
    search(reader, "rmsnorm nothing-has-this-name")
    assert reader.get_by_role("heading", name="Nothing matches all of it: the nearest that exists").is_visible()
    assert narrow(reader)
    chips = reader.get_by_role("list", name="What was understood")
    follow(reader, chips.get_by_role("link", name="remove text nothing-has-this-name"))
    reader.wait_for_function("!location.search.includes('nothing')")
    assert reader.get_by_role("region", name="Exact groups").locator("tbody tr").count() > 0


def test_a_suggestion_is_taken_by_keyboard(reader):
    reader.keyboard.press("/")
    reader.keyboard.type("rmsn")
    options = reader.get_by_role("option")
    options.first.wait_for()
    reader.keyboard.press("ArrowDown")
    assert options.first.get_attribute("aria-selected") == "true"
    reader.keyboard.press("Enter")
    field = reader.locator("input[type=search]").first
    assert options.count() == 0 or not options.first.is_visible()
    assert field.input_value().strip() != "rmsn"
    reader.keyboard.press("Enter")
    reader.wait_for_url("**/search/?q=**")
    assert reader.get_by_role("region", name="Exact groups").get_by_text("RMSNorm").first.is_visible()
