"""A person in a real browser: signs up, adds a passkey, signs in with it, and reads every page at a phone's width."""

from __future__ import annotations

import pytest

from tests.browser.conftest import DESK, PHONE
from tests.browser.test_pages import findings, overflow

PASSWORD = "a long password for tests"
PAGES = (
    "/account/",
    "/account/email/",
    "/account/password/change/",
    "/account/sessions/",
    "/account/tokens/",
    "/account/delete/",
    "/account/second-factor/",
    "/account/second-factor/totp/activate/",
    "/account/second-factor/passkeys/",
    "/account/second-factor/passkeys/add/",
    "/account/second-factor/recovery-codes/",
    "/account/logout/",
    "/following/",
    "/people/edith/",
)
ENTRANCE = ("/account/login/", "/account/signup/", "/account/password/reset/", "/account/confirm-email/")


@pytest.fixture
def at_home(chromium, site):
    """Makes a visitor of localhost: browsers offer passkeys there, and not to 127.0.0.1."""
    opened = []

    def new(**options):
        url = site.url.replace("127.0.0.1", "localhost")
        opened.append(chromium.new_context(base_url=url, viewport=PHONE, **options))
        return opened[-1].new_page()

    yield new
    for each in opened:
        each.close()


@pytest.fixture
def visitor(at_home):
    """A page whose scripts and policy violations are listened to, with a security key plugged in."""
    page = at_home()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return page


def check(page, path):
    page.goto(path)
    assert findings(page) == [], path
    assert overflow(page) == [0, []], path


def test_a_person_signs_up_adds_a_passkey_and_signs_in_with_it(link_in_mail, visitor):
    page = visitor
    for path in ENTRANCE:
        check(page, path)
    page.goto("/methodology/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Name", exact=True).fill("edith")
    page.get_by_label("E-mail").fill("edith@example.org")
    page.get_by_label("Password").fill("short")
    page.get_by_role("button", name="Sign up").click()
    assert "too short" in page.locator("#id_password1_error").inner_text()
    assert page.get_by_label("E-mail").input_value() == "edith@example.org"
    check_here(page)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.goto(link_in_mail())
    page.get_by_role("button", name="Confirm").click()
    page.goto("/account/login/?next=/methodology/")
    page.get_by_label("Name or e-mail").fill("edith")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", name="Methodology", exact=True).wait_for()

    page.goto("/account/second-factor/passkeys/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Sign in with it alone").check()
    page.get_by_role("button", name="Add it").click()
    page.wait_for_url("**/recovery-codes/")
    assert page.locator(".codes li").count() == 10
    for path in PAGES:
        check(page, path)
    page.set_viewport_size(DESK)
    check(page, "/account/tokens/")
    page.set_viewport_size(PHONE)

    page.goto("/account/logout/")
    page.get_by_role("button", name="Sign out").click()
    page.goto("/account/login/?next=/sources/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="Sources", exact=True).wait_for()
    assert page.get_by_role("link", name="edith").is_visible()
    assert page.complaints == []


def check_here(page):
    assert findings(page) == []
    assert overflow(page) == [0, []]


def test_a_passkey_that_is_not_there_is_said_beside_the_button(visitor):
    visitor.goto("/account/login/")
    visitor.evaluate("() => { navigator.credentials.get = () => Promise.reject(new DOMException('no')) }")
    visitor.get_by_role("button", name="Sign in with a passkey").click()
    visitor.get_by_role("alert").filter(has_text="gave no passkey").wait_for()


def test_without_scripts_one_signs_up_and_nothing_is_offered_that_would_not_work(at_home):
    page = at_home(java_script_enabled=False)
    page.goto("/account/login/")
    assert page.get_by_role("button", name="Sign in", exact=True).is_visible()
    assert not page.get_by_role("button", name="Sign in with a passkey").is_visible()
