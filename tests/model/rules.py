"""The rules that a history is held against, and the way in which it says that one is broken."""

from enum import StrEnum


class Rule(StrEnum):
    ONE_HOLDER = "no two holders in true time"
    FENCE = "fences rise for ever"
    REVIVED = "what has ended stays ended"
    KEY = "a key is granted once"
    EXPIRY = "an end never moves back"
    OWN_END = "a lease that nobody heartbeats ends by its own TTL"
    ANSWER = "an answer says what the row said"
    EVENT = "each change is told once, in order"
    TTL = "TTL cleans up and never decides"
    OPEN = "what is over can be claimed"


class Broken(AssertionError):
    def __init__(self, rule: Rule, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


class Watch:
    """Raises for the rules that are watched, which are all of them unless a test wants to see one do its work."""

    def __init__(self, *watched: Rule) -> None:
        self._watched = frozenset(watched or Rule)

    def require(self, holds: bool, rule: Rule, what: str) -> None:
        if not holds and rule in self._watched:
            raise Broken(rule, what)
