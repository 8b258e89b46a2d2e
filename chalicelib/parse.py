"""Bytes from a stranger to a checked request. The only place that knows how JSON can be wrong."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

import msgspec

from chalicelib import errors

LARGEST_BODY_BYTES = 64 * 1024
DEFAULT_PAGE, LARGEST_PAGE = 50, 100
MOST_WARNINGS = 10

Body = TypeVar("Body", bound=msgspec.Struct)

_json_type = re.compile(r"application/(json|[\w.+-]+\+json)\s*(;.*)?", re.IGNORECASE)
_path_in_message = re.compile(r"^(?P<what>.*?) - at `\$\.?(?P<field>[^`]*)`$")
_NUL = "\x00"


@dataclass(frozen=True, slots=True)
class Unknown:
    field: str
    nearest: str | None

    @property
    def warning(self) -> str:
        return f"{self.field}: " + (
            f"did you mean {self.nearest}?" if self.nearest else "not a field of this request, ignored."
        )


class _DuplicateKey(Exception):
    """Carries the key that stands twice in one object."""


def exact_body(raw: bytes, content_type: str | None, shape: type[Body]) -> Body:
    """The request, which may have no other fields: a misspelt one must not pass for one left out."""
    try:
        parsed, ignored = body(raw, content_type, shape)
    except errors.InvalidInput:
        # Who misspells a field that is needed is told of the spelling, and not only that the other is missing.
        ignored = _unknown_in(raw, shape)
        if not ignored:
            raise
    if ignored:
        first = ignored[0]
        hint = f"Did you mean {first.nearest}?" if first.nearest else f"It takes {', '.join(shape.__struct_fields__)}."
        raise errors.InvalidInput(f"{first.field}: not a field of this request. {hint}", field=first.field)
    return parsed


def _unknown_in(raw: bytes, shape: type[msgspec.Struct]) -> list[Unknown]:
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        return []
    return _ignored(fields, shape) if isinstance(fields, dict) else []


def body(raw: bytes, content_type: str | None, shape: type[Body]) -> tuple[Body, list[Unknown]]:
    """The request, and the fields that are none of its own."""
    if len(raw) > LARGEST_BODY_BYTES:
        raise errors.PayloadTooLarge(
            f"The body has {len(raw)} bytes, and {LARGEST_BODY_BYTES} are allowed. Keep large data elsewhere, "
            "and put a pointer to it into metadata.",
            limit_bytes=LARGEST_BODY_BYTES,
        )
    if content_type is None or not _json_type.fullmatch(content_type.strip()):
        raise errors.UnsupportedMediaType(
            "Send a JSON object with the header 'Content-Type: application/json'.", received=content_type
        )
    try:
        # Strictly, and once for both: each has its own idea of what is not UTF-8.
        text = raw.decode("utf-8")
        parsed = _decoder(shape).decode(text)
        fields = json.loads(text, object_pairs_hook=_without_duplicates)
        if "\\u" in text:
            _refuse_characters(fields)
    except msgspec.ValidationError as error:
        raise _invalid_field(str(error)) from None
    except _DuplicateKey as error:
        key = _shown(str(error))
        raise errors.InvalidInput(f"{key!r} stands twice in one object. Send it once.", field=key) from None
    except RecursionError:
        raise errors.InvalidInput("The body is nested too deeply. Send a flat JSON object.") from None
    except (msgspec.DecodeError, ValueError):
        raise _not_json(raw) from None
    return parsed, _ignored(fields, shape)


@cache
def _decoder(shape: type[Body]) -> msgspec.json.Decoder[Body]:
    return msgspec.json.Decoder(shape)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    together = dict(pairs)
    if len(together) != len(pairs):
        seen: set[str] = set()
        raise _DuplicateKey(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return together


def _invalid_field(message: str) -> errors.InvalidInput:
    found = _path_in_message.match(message)
    what, field = (found["what"], found["field"]) if found else (message, "")
    what = what.replace("`", "").replace(" | null", "")
    if not field and what.startswith("Object missing required field "):
        field, what = what.removeprefix("Object missing required field "), "it is missing"
    if not field:
        return errors.InvalidInput(f"The body must be a JSON object. {what}.")
    kind = errors.InvalidTtl if field == "ttl_seconds" else errors.InvalidInput
    return kind(f"{field}: {what[0].lower()}{what[1:]}.", field=field)


def _not_json(raw: bytes) -> errors.InvalidInput:
    """The slow path: says what is wrong as exactly as it can."""
    if not raw:
        return errors.InvalidInput("The body is empty. Send a JSON object, {} at the least.")
    try:
        fields = json.loads(raw.decode("utf-8"))
    except json.JSONDecodeError as error:
        return errors.InvalidInput(f"The body is not valid JSON: {error.msg} at character {error.pos}.")
    except UnicodeDecodeError as error:
        return errors.InvalidInput(f"The body is not valid UTF-8 at byte {error.start}.")
    except (RecursionError, ValueError):
        return errors.InvalidInput("The body has a number that is too long, or is nested too deeply.")
    try:
        _refuse_characters(fields)
    except errors.InvalidInput as error:
        return error
    except RecursionError:
        return errors.InvalidInput("The body is nested too deeply. Send a flat JSON object.")
    return errors.InvalidInput("The body is not valid JSON: NaN, Infinity and unpaired surrogates are not part of it.")


def _refuse_characters(fields: Any) -> None:
    if not isinstance(fields, Mapping):
        return
    for field, value in fields.items():
        text = "".join(_texts([field, value]))
        if _NUL in text:
            raise errors.InvalidInput(f"{_shown(field)}: the character NUL is not allowed.", field=_shown(field))
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise errors.InvalidInput(
                f"{_shown(field)}: half of a surrogate pair is not a character.", field=_shown(field)
            )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts([*value.keys(), *value.values()])
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _shown(field: str) -> str:
    return field.encode("ascii", "backslashreplace").decode()


def _ignored(fields: Mapping[str, Any], shape: type[msgspec.Struct]) -> list[Unknown]:
    known = shape.__struct_fields__
    return [Unknown(_shown(field), _nearest(field, known)) for field in fields if field not in known]


def _nearest(field: str, known: tuple[str, ...]) -> str | None:
    begun = next((one for one in known if one.startswith(f"{field}_")), None)
    return begun or next(iter(get_close_matches(field, known, n=1)), None)


def warnings(unknown: list[Unknown]) -> list[str]:
    """One for each field, but no more than a person reads: a large body must not become a larger answer."""
    told = [one.warning for one in unknown[:MOST_WARNINGS]]
    left = len(unknown) - len(told)
    return [*told, f"and {left} more fields that are none of this request's."] if left else told


def page_size(query: Mapping[str, str]) -> int:
    text = query.get("limit", str(DEFAULT_PAGE))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= LARGEST_PAGE):
        raise errors.InvalidInput(f"limit: send a whole number from 1 to {LARGEST_PAGE}.", field="limit")
    return int(text)
