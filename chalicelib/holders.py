"""Who holds a name, told apart from others, and nothing more."""

from uuid import UUID, uuid5

from chalicelib import names

# Any fixed value will do, but for ever: every pseudonym is derived from it.
_HOLDERS = UUID("6f63746f-6c65-4173-a500-686f6c646572")


def pseudonym(key: str, principal: str) -> str:
    """The same for the same token of a namespace, over all its rotations; neither the token nor its id can be read
    from it."""
    return str(uuid5(_HOLDERS, f"{names.namespace_of(key)}/{principal}"))
