"""The event face: what became of one job, and what goes on in a namespace."""

from collections.abc import Mapping, Sequence

from chalicelib import cursors, names, parse, positions, times
from chalicelib.call import Answer, Call
from chalicelib.errors import InvalidInput
from chalicelib.faces import event_answers as answers
from chalicelib.wire import events as wire


def history(call: Call, segment: str) -> Answer:
    key, query = call.key(segment), call.request.query
    limit = parse.page_size(query)
    after = positions.in_history(query["cursor"]) if "cursor" in query else positions.START_OF_HISTORY
    page = call.service.events.history(key, after=after, limit=limit, clock=call.clock)
    _note(call, page.unreadable)
    shown = list(answers.in_history(page.entries, after))
    return Answer(wire.JobHistory(shown, cursors.opaque(page.position) if page.more else None))


def feed(call: Call) -> Answer:
    query, principal = call.request.query, call.principal
    limit, after = parse.page_size(query), _after(query)
    page = call.service.events.feed(principal.namespace, after=after, limit=limit, clock=call.clock)
    _note(call, page.unreadable)
    shown = [
        answers.in_feed(entry.event)
        for entry in page.entries
        if names.name_of(entry.event.key).startswith(principal.prefix)
    ]
    return Answer(wire.EventFeed(shown, cursors.opaque(page.position), page.more))


def _after(query: Mapping[str, str]) -> str:
    """The later of both, so that a poller may add its cursor to the address that it began with."""
    since = positions.at_time(_since_ms(query["since"]) if "since" in query else 0)
    return max(since, positions.in_feed(query["cursor"])) if "cursor" in query else since


def _since_ms(text: str) -> int:
    try:
        return times.ms_of(text)
    except times.NotATime:
        raise InvalidInput(
            "since: write a time as RFC 3339 does, such as 2026-11-18T12:00:00Z (+ is %2B in a URL).", field="since"
        ) from None


def _note(call: Call, unreadable: Sequence[str]) -> None:
    for place in unreadable:
        call.note(f"unreadable row of the log left out: {place}")
