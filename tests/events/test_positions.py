"""Times and places as texts whose order is the order of what they say."""

import random
from dataclasses import replace

import pytest

from chalicelib import cursors, positions
from chalicelib.events import Event
from chalicelib.times import NotATime, ms_of, rfc3339

EVENT = Event("default/job", "claimed", 1, "o", "p", 1, 1, 1, "{}")


def test_the_order_of_places_is_the_order_of_fences_and_revs() -> None:
    chance = random.Random(3)
    numbers = [(chance.randrange(2**53), chance.randrange(1, 10**10)) for _ in range(500)]
    texts = [positions.seq(replace(EVENT, fence=fence, rev=rev)) for fence, rev in sorted(numbers)]
    assert texts == sorted(texts)


def test_a_place_in_a_history_remembers_its_rev() -> None:
    event = replace(EVENT, rev=7)
    assert positions.rev_at(positions.seq(event)) == 7
    assert positions.rev_at(positions.beside(event, "e.1")) == 7
    assert positions.rev_at(positions.START_OF_HISTORY) == 0


@pytest.mark.parametrize("event_id", ["7de3041dd709b024af6f29e4fa13d34c", "a-b-c", "id.with.dots"])
def test_a_cursor_comes_back_as_the_place_that_it_was_made_of(event_id: str) -> None:
    logged = positions.logged(EVENT, event_id, 1_795_000_000_000)
    assert positions.in_feed(cursors.opaque(logged)) == logged
    beside = positions.beside(EVENT, event_id)
    assert positions.in_history(cursors.opaque(beside)) == beside


def test_a_time_stands_before_all_that_is_logged_in_its_millisecond_and_after_the_one_before() -> None:
    moment = positions.at_time(1_795_000_000_000)
    assert positions.logged(EVENT, "~", 1_794_999_999_999) < moment < positions.logged(EVENT, "!", 1_795_000_000_000)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59Z", 0),
        ("0001-01-01T00:00:00+23:59", 0),
        ("2026-11-18T12:00:00.123Z", 1_795_003_200_123),
        ("2026-11-18T12:00:00.123999999Z", 1_795_003_200_123),
        ("2026-11-18T13:30:00+01:30", 1_795_003_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_a_time_is_read_as_rfc_3339_writes_it(text: str, ms: int) -> None:
    assert ms_of(text) == ms


@pytest.mark.parametrize("ms", [0, 1, 999, 1_795_003_200_123, 253_402_300_799_999])
def test_what_is_written_is_read_as_the_same_time(ms: int) -> None:
    assert ms_of(rfc3339(ms)) == ms


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-18T12:00:00",
        "2026-11-18",
        "2026-11-18 12:00:00Z",
        "2026-11-18T12:00:00z",
        "20261118T120000Z",
        "2026-02-30T12:00:00Z",
        "2026-11-18T24:00:01Z",
        "2026-11-18T12:00:60Z",
        "2026-11-18T12:00:00+99:00",
        "0000-01-01T00:00:00Z",
        "２０２６-11-18T12:00:00Z",
        "2026-11-18T12:00:00Z\n",
        "2026-W47-3T12:00:00Z",
    ],
)
def test_what_is_no_time_or_could_mean_two_is_refused(text: str) -> None:
    with pytest.raises(NotATime):
        ms_of(text)
