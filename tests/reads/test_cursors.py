import contextlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.reads.cursors import Cursor, InvalidCursor, parse_cursor


@given(st.uuids(), st.booleans(), st.integers(0, 2**31))
def test_a_cursor_survives_being_written_and_read(id_, forward, rank):
    cursor = Cursor(id_, forward, rank)
    assert parse_cursor(str(cursor)) == cursor


@pytest.mark.parametrize("text", ["", "x", "!!!", "AAAA", "é", "a" * 400, str(Cursor(uuid.UUID(int=7), True)) + "A"])
def test_it_refuses_a_text_that_is_no_cursor(text):
    with pytest.raises(InvalidCursor):
        parse_cursor(text)


@given(st.text(max_size=60))
def test_any_text_is_a_cursor_or_refused(text):
    with contextlib.suppress(InvalidCursor):
        assert str(parse_cursor(text)) == text


def test_it_refuses_a_cursor_without_a_direction():
    written = str(Cursor(uuid.uuid4(), True))
    with pytest.raises(InvalidCursor):
        parse_cursor("A" + written[1:])
