"""People in browsers of their own: somebody who states something, a moderator, and a visitor without an account."""

import re

import pytest

from tests.browser.community import PASSWORD
from tests.browser.conftest import PHONE
from tests.browser.test_pages import listened

NOTE = "The same figure on a card of mine."


@pytest.fixture
def browser(context):
    """Opens a browser, of somebody who is signed in or of nobody. None of them may complain."""
    heard = []

    def new(person="", **options):
        page = context(person=person, **options).new_page()
        heard.append(listened(page))
        return page

    yield new
    assert [complaint for page in heard for complaint in page] == []


def sign_up(page, name, mailed):
    """Sign up, verify the address by the mail, and sign in."""
    page.goto("/account/signup/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("E-mail").fill(f"{name}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("heading").first.wait_for()
    page.goto(mailed())
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text("confirmed").first.wait_for()


def sign_in(page, name):
    page.get_by_label("Name or e-mail").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def decide(page, decision, **fields):
    """Decide on what a page of the admin is about."""
    for label, text in fields.items():
        page.locator(f"[name={label}]").fill(text)
    page.get_by_role("button", name=decision, exact=True).click()
    page.wait_for_load_state()


def test_from_signing_up_to_a_statement_that_everybody_sees(browser, site, link_in_mail):
    author, moderator, visitor = browser(viewport=PHONE), browser("morgan"), browser()
    run = site.path("run:rms_norm")
    sign_up(author, "hedy", link_in_mail)
    author.goto(run)
    author.get_by_role("link", name="Sign in to state something about this run").click()
    sign_in(author, "hedy")
    author.wait_for_url("**/statements/new/**")
    author.get_by_role("radio", name="Reproduced", exact=True).check()
    author.get_by_role("textbox", name="Note").fill(NOTE)
    author.locator(".preview").get_by_text(NOTE).wait_for()
    author.get_by_label("Measured value").fill("42")
    author.get_by_label("Unit").select_option("us")
    author.get_by_label("Statistic").select_option("median")
    author.get_by_role("button", name="Post", exact=True).click()
    author.get_by_text("until then you alone see it").wait_for()
    author.goto(run)
    assert author.get_by_text(NOTE).is_visible()
    visitor.goto(run)
    assert visitor.get_by_text(NOTE).count() == 0

    moderator.goto("/admin/")
    moderator.get_by_role("table", name="What waits").get_by_role("link", name=re.compile("statements", re.I)).click()
    moderator.get_by_role("row").filter(has_text=NOTE).get_by_role("link").first.click()
    moderator.get_by_role("heading", name="Decide").wait_for()
    assert moderator.get_by_text("× the run").is_visible()
    decide(moderator, "Publish", reason="Plausible.")

    visitor.reload()
    assert visitor.get_by_text(NOTE).is_visible()
    assert visitor.get_by_text("1.00 × the run").is_visible()
    assert visitor.get_by_role("link", name="hedy").is_visible()
    author.goto("/following/")
    assert author.get_by_text("published").first.is_visible()


def test_a_report_without_an_account_gets_a_receipt_that_shows_what_became_of_it(browser, site):
    visitor, moderator = browser(viewport=PHONE), browser("morgan")
    visitor.goto(site.path("run:rms_norm"))
    visitor.get_by_role("link", name="Report an issue with this run").click()
    visitor.get_by_role("radio", name="Comparability").check()
    visitor.get_by_label("Detail").fill("The first call is timed with its compilation.")
    visitor.get_by_role("button", name="Send the report").click()
    visitor.get_by_text("Received.").wait_for()
    assert visitor.get_by_text("waiting for a moderator").is_visible()
    receipt = visitor.locator("#address").inner_text()
    assert receipt == visitor.url.split("?")[0]

    moderator.goto("/admin/attestations/report/")
    moderator.goto(f"/admin/attestations/report/{receipt.split('/')[-3]}/change/")
    assert moderator.get_by_text("The first call is timed with its compilation.").first.is_visible()
    decide(moderator, "Dismiss", answer="Ten calls warm it up.", reason="Read the script.")
    visitor.goto(receipt)
    assert visitor.get_by_text("Ten calls warm it up.").is_visible()


def test_what_was_written_outlives_a_session(browser, site):
    page = browser("grace")
    page.goto(f"{site.path('run:rms_norm')}statements/new/")
    page.get_by_role("radio", name="Environment note").check()
    page.get_by_role("textbox", name="Note").fill("ECC was on, and the fan was loud.")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Post", exact=True).click()
    sign_in(page, "grace")
    page.get_by_text("What you wrote before you signed in is below.").wait_for()
    assert page.get_by_role("textbox", name="Note").input_value() == "ECC was on, and the fan was loud."
