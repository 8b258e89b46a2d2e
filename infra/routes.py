"""Which route of the app a path means, as API Gateway's REST APIs decide it.

Paths are matched as they came, still percent-encoded: `%2F` is a character of a name, never a border of segments.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Route:
    resource: str
    segments: tuple[str, ...]
    methods: frozenset[str]

    @property
    def allowed_methods(self) -> list[str]:
        return sorted(self.methods | ({"HEAD"} if "GET" in self.methods else set()))

    def method_for(self, asked: str) -> str | None:
        """The app's own method that answers; HEAD is answered by GET."""
        if asked in self.methods:
            return asked
        return "GET" if asked == "HEAD" and "GET" in self.methods else None


@dataclass(frozen=True, slots=True)
class Match:
    route: Route
    parameters: Mapping[str, str]


class RouteTable:
    def __init__(self, methods_of: Mapping[str, Iterable[str]]) -> None:
        routes = [Route(resource, _segments(resource), frozenset(methods)) for resource, methods in methods_of.items()]
        # `/jobs/claim-any` before `/jobs/{name}`: a literal segment is nearer than a parameter.
        self._routes = sorted(routes, key=lambda route: [_is_parameter(segment) for segment in route.segments])

    def match(self, path: str) -> Match | None:
        segments = _segments(path)
        for route in self._routes:
            parameters = _parameters(route.segments, segments)
            if parameters is not None:
                return Match(route, parameters)
        return None


def _parameters(pattern: tuple[str, ...], segments: tuple[str, ...]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    parameters = {}
    for expected, segment in zip(pattern, segments, strict=True):
        if _is_parameter(expected) and segment:
            parameters[expected[1:-1]] = segment
        elif expected != segment:
            return None
    return parameters


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))


def _is_parameter(segment: str) -> bool:
    return segment.startswith("{")
