"""What the script adds, and that nothing is missing without it."""

import pytest
from playwright.sync_api import expect

from kernelindex import settings
from tests.browser.conftest import PRINCIPAL

CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.mark.parametrize(
    ("button", "field"),
    [
        ("Copy the digest", "digest"),
        ("Copy the comparison key", "comparison_key"),
    ],
)
def test_a_copy_button_copies_the_whole_value_and_says_so(visit, site, button, field):
    page = visit("run:seed", permissions=CLIPBOARD)
    value = page.request.get(f"/runs/{site.ids['seed']}.json").json()[field]
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("status")).to_have_text(f"Copied: {button.removeprefix('Copy ')}")
    assert page.evaluate("navigator.clipboard.readText()") == value
    expect(page.get_by_role("button", name=button)).to_be_visible()  # it has its name back


def test_the_manifest_is_copied_as_it_is_shown(visit, site):
    page = visit("run:seed", permissions=CLIPBOARD)
    page.get_by_text("Show manifest").click()
    page.get_by_role("button", name="Copy the manifest").click()
    expect(page.get_by_role("status")).to_have_text("Copied: the manifest")
    shown = page.request.get(f"/runs/{site.ids['seed']}.json").json()["manifest"]
    assert page.evaluate("navigator.clipboard.readText().then(JSON.parse)") == shown


def test_a_clipboard_that_refuses_is_not_reported_as_copied(visit):
    page = visit("run:seed")
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error()))")
    page.get_by_role("button", name="Copy the digest").click()
    expect(page.get_by_role("status")).to_have_text("Not copied: the digest")


# The forms with scripts of their own, and a page that a script keeps up to date.
SCRIPTED = ("sign in", "ada: submission form", "ada: revision", "rerun, running", "receipt")
# What only a script can do is not offered without one.
ADDED = ".copy, form[data-passkey]"


@pytest.mark.parametrize("name", [*PRINCIPAL, *SCRIPTED])
def test_a_page_is_complete_without_scripts(visit, name):
    page, with_scripts = visit(name, java_script_enabled=False), visit(name)
    assert page.locator(ADDED).locator("visible=true").count() == 0
    with_scripts.evaluate(f"for (const one of document.querySelectorAll('{ADDED}')) one.hidden = true")
    assert page.locator("body").inner_text() == with_scripts.locator("body").inner_text()


def test_folds_and_search_work_without_scripts(visit, site):
    page = visit("run:seed", java_script_enabled=False)
    page.get_by_text("Show manifest").click()
    assert page.locator("#manifest-text").is_visible()
    page.locator("input[type=search]").first.fill(site.ids["full"])
    page.get_by_role("button", name="Search").click()
    page.wait_for_url(f"**{site.path('run:full')}")


def test_the_script_is_small():
    assert sum(path.stat().st_size for path in (settings.BASE_DIR / "kernelindex/static/js").iterdir()) < 15_000
