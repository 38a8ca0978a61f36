"""Names: slugs that pass for nobody else."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from attestations.accounts.adapters import AccountAdapter
from attestations.accounts.names import skeleton, validate_name


@pytest.mark.parametrize("name", ["ada", "a1", "grace-hopper", "x" * 39, "007-bond"])
def test_it_takes_slugs(name):
    validate_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "x" * 40,
        "-ada",
        "ada-",
        "ada--b",
        "ada_b",
        "ada.b",
        "ada b",
        "Ada",
        "аda",  # Cyrillic а
        "ada\u200b",
        "\u202eada",
        "ada\n",
        "ａｄａ",  # full width
        "adé",
        "٣٣٣",
        "admin",
        "adm1n",
        "ad-min",
        "r00t",
        "modera-tor",
        "deleted-7",
    ],
)
def test_it_refuses_everything_else(name):
    with pytest.raises(ValidationError):
        validate_name(name)


@given(st.text(max_size=45))
def test_what_it_takes_is_ascii_and_an_address(name):
    try:
        validate_name(name)
    except ValidationError:
        return
    assert name.isascii()
    assert name == name.lower()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@given(st.text(alphabet="abcil015rnvw-", max_size=39))
def test_a_skeleton_fits_the_column(name):
    assert len(skeleton(name)) <= len(name)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["ada", "ADA", "a-da"])
def test_a_name_like_one_that_is_taken_is_refused(ada, name):
    with pytest.raises(ValidationError):
        AccountAdapter().clean_username(name)


@pytest.mark.django_db
def test_a_suggestion_is_free_and_valid(ada):
    adapter = AccountAdapter()
    assert adapter.generate_unique_username(["", "Ada"]) == "ada-2"
    assert adapter.generate_unique_username(["Зоя"]) == ""
    assert adapter.generate_unique_username(["x" * 80, None]) == "x" * 35
