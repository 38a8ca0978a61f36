"""What can be reached and done by keyboard alone."""

import pytest

from tests.browser.conftest import DESK, PAGES, PHONE, PRINCIPAL

# The elements that Tab stops at, in the order of the document. Of a set of radio buttons it is the chosen or the first.
STOPS = """() => [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden], [tabindex='-1']), select, textarea, summary, [tabindex='0']")]
  .filter((element) => element.checkVisibility({visibilityProperty: true}))
  .filter((element) => {
    const set = element.type === "radio" ? [...document.getElementsByName(element.name)] : [element]
    return element === (set.find((one) => one.checked) ?? set[0])
  })"""
NAME = "(element) => element.outerHTML.slice(0, 120)"


WALKS = [
    pytest.param(name, viewport, id=f"{name} {viewport['width']}")
    for name in PAGES
    for viewport in ((PHONE, DESK) if name in PRINCIPAL else (PHONE,))
]


@pytest.mark.parametrize(("name", "viewport"), WALKS)
def test_tab_reaches_everything_in_order_and_shows_where_it_is(visit, name, viewport):
    page = visit(name, viewport=viewport)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    expected = page.evaluate(f"({STOPS})().map({NAME})")
    reached = []
    for _ in expected:
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                f"""() => {{
                  const element = document.activeElement, style = getComputedStyle(element)
                  const box = element.getBoundingClientRect()
                  const marked = style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2
                  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.left >= 0
                  return [({NAME})(element), marked, seen]
                }}"""
            )
        )
    assert [stop for stop, _, _ in reached] == expected
    assert [stop for stop, marked, seen in reached if not (marked and seen)] == []


def test_the_first_stop_skips_to_the_content(visit):
    page = visit("run:seed")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    assert skip.evaluate("(link) => link === document.activeElement && link.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


@pytest.mark.parametrize("name", ["home", "run:seed"])
def test_a_slash_goes_to_the_search(visit, site, name):
    page = visit(name)
    page.keyboard.press("/")
    search = page.locator("input[type=search]").first
    assert search.evaluate("(field) => field === document.activeElement")
    assert search.input_value() == ""
    page.keyboard.type("a/b")
    assert search.input_value() == "a/b"
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(site.ids["full"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{site.path('run:full')}")


def test_a_slash_with_a_modifier_is_left_to_the_browser(visit):
    page = visit("run:seed")
    page.keyboard.press("Control+/")
    assert page.evaluate("document.activeElement === document.body")


def test_the_filters_narrow_the_list(visit):
    page = visit("list")
    page.get_by_label("status").select_option("incorrect_numerical")
    page.get_by_role("button", name="Apply").press("Enter")
    page.wait_for_url("**status=incorrect_numerical**")
    assert page.locator(".runs tbody tr").count() == 1
    page.get_by_role("link", name="remove the filter status").press("Enter")
    page.wait_for_function("!location.search.includes('incorrect_numerical')")
    page.go_back()
    assert page.get_by_label("status").input_value() == "incorrect_numerical"


def test_pages_of_a_list_lead_on_and_back(visit):
    page = visit("list")
    first = page.locator(".runs tbody th").first.text_content()
    page.get_by_role("link", name="Next").click()
    assert page.locator(".runs tbody th").first.text_content() != first
    page.get_by_role("link", name="Previous").click()
    assert page.locator(".runs tbody th").first.text_content() == first
