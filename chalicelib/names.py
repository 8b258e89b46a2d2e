"""One spelling for one name: what a caller wrote in a URL becomes a row's key here, or is refused."""

import re
import zlib
from urllib.parse import unquote_to_bytes

from chalicelib import cursors
from chalicelib.errors import InvalidInput, InvalidName

LONGEST_NAME = 256
PART = "[A-Za-z0-9_][A-Za-z0-9._:@-]{0,63}"
NAME_PATTERN = f"^(?!.*\\.\\.){PART}(/{PART})*$"
NAMESPACE_PATTERN = "^[a-z0-9][a-z0-9-]{0,31}$"
# They would hide `POST /jobs/claim-any` behind a job of that name.
RESERVED = frozenset({"claim-any", "claim-all"})

_name = re.compile(NAME_PATTERN)
_namespace = re.compile(NAMESPACE_PATTERN)
_prefix = re.compile(r"[A-Za-z0-9._:@/-]*")

# Both stand outside a name's alphabet, one below and one above all of it, and so bound a range of keys.
_BELOW_ALL, _ABOVE_ALL = " ", "~"
# Below and above every key of every namespace. Housekeeping rows start with #, and no index has them.
LOWEST_KEY, HIGHEST_KEY = "!", "~"


def from_path(segment: str) -> str:
    """Decodes a path segment exactly once: `deploy` and `%64eploy` are one name, `%2564eploy` is none."""
    try:
        return checked(unquote_to_bytes(segment).decode("ascii"))
    except UnicodeDecodeError:
        raise _refused("only ASCII letters, digits and . _ : @ - / may stand in a name") from None


def checked(name: str, field: str = "name") -> str:
    if len(name) > LONGEST_NAME:
        raise _refused(f"it has {len(name)} characters, and {LONGEST_NAME} are allowed", field)
    if name in RESERVED:
        raise _refused(f"{name} is a reserved word; choose another name", field)
    if not _name.fullmatch(name):
        raise _refused(
            "write parts of 1 to 64 characters from A-Z a-z 0-9 . _ : @ - that start with a letter, a digit or _, "
            "joined by / (as %2F in a URL), without '..'",
            field,
        )
    return name


def _refused(why: str, field: str = "name") -> InvalidName:
    return InvalidName(f"This is not a valid name: {why}.", field=field)


def checked_prefix(prefix: str, field: str = "prefix") -> str:
    if len(prefix) > LONGEST_NAME or not _prefix.fullmatch(prefix):
        raise InvalidInput(
            f"{field}: write the first characters of a name, at most {LONGEST_NAME} from A-Z a-z 0-9 . _ : @ - /.",
            field=field,
        )
    return prefix


def is_namespace(text: str) -> bool:
    return _namespace.fullmatch(text) is not None


def key_of(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"


def name_of(key: str) -> str:
    """A namespace has no `/`, so the first one parts the two."""
    return key.split("/", 1)[1]


def namespace_of(key: str) -> str:
    return key.split("/", 1)[0]


def shard_of(key: str, shards: int) -> str:
    return str(zlib.crc32(key.encode()) % shards)


def just_after(key: str) -> str:
    """Below every key that comes after this one, and above this one itself."""
    return key + _BELOW_ALL


def key_range(namespace: str, prefix: str, after: str | None) -> tuple[str, str]:
    """The first and last key, both included, of the names that start with `prefix` and come after `after`."""
    low = key_of(namespace, prefix)
    if after is not None:
        low = max(low, just_after(key_of(namespace, after)))
    return low, key_of(namespace, prefix) + _ABOVE_ALL


def cursor_after(key: str) -> str:
    return cursors.opaque(name_of(key))


def name_in_cursor(cursor: str) -> str:
    try:
        return checked(cursors.read(cursor))
    except InvalidName:
        raise cursors.foreign() from None
