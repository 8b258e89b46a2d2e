"""Who believes to hold what, in true time.

A holder counts from the moment before it sent the request that was answered:

      sent        lands        answered                 sent + expires_in_ms
       |------------|-------------|--- believes ----------------|
                                                                 the next lease of the name may land from here on

It stops to believe when it gives the lease up, or is told that it is over. Evicting, and deleting a session, override
the promise: what they end is believed by nobody from the moment at which they land.
"""

from dataclasses import dataclass, field

from tests.model.rules import Rule, Watch

FOR_EVER_US = 2**63


@dataclass(slots=True)
class Life:
    """One lease, from the write that granted it."""

    key: str
    lease_id: str
    session_id: str | None
    born_us: int
    born_step: int
    own_end_ms: int
    next_born_us: int = FOR_EVER_US
    ended_step: int | None = None
    ended_as: str | None = None
    told_until_us: int = 0
    no_longer_us: int = FOR_EVER_US
    is_told_carried: bool = False
    was_heartbeat_sent: bool = False

    @property
    def believed_until_us(self) -> int:
        return min(self.told_until_us, self.no_longer_us)

    def __str__(self) -> str:
        return f"lease {self.lease_id[-6:]} of {self.key}"


@dataclass(slots=True)
class SessionLife:
    told_until_us: int = 0
    no_longer_us: int = FOR_EVER_US
    latest_end_ms: int = 0
    leases: list[Life] = field(default_factory=list)

    @property
    def believed_until_us(self) -> int:
        return min(self.told_until_us, self.no_longer_us)


class Holders:
    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.lives: dict[str, Life] = {}
        self.sessions: dict[str, SessionLife] = {}
        self._of_name: dict[str, list[Life]] = {}

    def born(self, life: Life) -> None:
        before = self._of_name.setdefault(life.key, [])
        for earlier in before:
            earlier.next_born_us = min(earlier.next_born_us, life.born_us)
            self._check(earlier)
        before.append(life)
        self.lives[life.lease_id] = life
        if life.session_id is not None:
            self.session(life.session_id).leases.append(life)

    def session(self, session_id: str) -> SessionLife:
        return self.sessions.setdefault(session_id, SessionLife())

    def told(self, lease_id: str, until_us: int, *, carried: bool) -> None:
        life = self.lives[lease_id]
        life.is_told_carried |= carried
        self._extend(life, until_us)
        if life.is_told_carried and life.session_id is not None:
            self._extend(life, self.session(life.session_id).believed_until_us)

    def told_of_session(self, session_id: str, until_us: int) -> None:
        """A keepalive carries every lease that its owner knows to be carried."""
        session = self.session(session_id)
        session.told_until_us = max(session.told_until_us, until_us)
        for life in session.leases:
            if life.is_told_carried:
                self._extend(life, session.believed_until_us)

    def heartbeat_sent(self, lease_id: str) -> None:
        life = self.lives.get(lease_id)
        if life is not None:
            life.was_heartbeat_sent = True

    def no_longer(self, lease_id: str, now_us: int) -> None:
        life = self.lives.get(lease_id)
        if life is not None:
            life.no_longer_us = min(life.no_longer_us, now_us)

    def session_no_longer(self, session_id: str, now_us: int) -> None:
        session = self.session(session_id)
        session.no_longer_us = min(session.no_longer_us, now_us)

    def _extend(self, life: Life, until_us: int) -> None:
        life.told_until_us = max(life.told_until_us, until_us)
        self._check(life)

    def _check(self, life: Life) -> None:
        over_us = life.believed_until_us - life.next_born_us
        self._watch.require(
            over_us <= 0, Rule.ONE_HOLDER, f"{life} is believed in for {over_us / 1000} ms after the next was granted"
        )
