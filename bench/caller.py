"""A client that speaks to the app as API Gateway does: an event in, an answer out."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.edge import Application
from chalicelib.service import wall_clock_us

# As long as those of a CI job: what a row weighs and what a request costs depends on it.
NAME = "repo/acme-web/issue-1842"
OWNER = "runner-7/build-1842"
METADATA = "host=runner-7 build=1842 commit=9f2c1ab branch=main try=1"
IDEMPOTENCY_KEY = "0b9de4c1-51f0-4c55-a1f6-7f0c3b1d2e90"
ACQUIRE = {"ttl_seconds": 60, "metadata": METADATA, "owner": OWNER, "idempotency_key": IDEMPOTENCY_KEY}

Event = dict[str, Any]


class Caller:
    """One client of the app. `read_us` is the gateway's clock."""

    def __init__(self, app: Application, bearer: str, read_us: Callable[[], int] = wall_clock_us) -> None:
        self._app = app
        self._bearer = bearer
        self._read_us = read_us

    def acquire(self, name: str, **body: Any) -> Any:
        return self.send(self.acquire_event(name, **body))

    def acquire_event(self, name: str, **body: Any) -> Event:
        return self.event("POST", "/locks/{name}/acquire", body, name=name)

    def renew(self, name: str, lease_id: str) -> Any:
        return self.post("/locks/{name}/renew", {"lease_id": lease_id, "ttl_seconds": 60}, name=name)

    def release(self, name: str, lease_id: str) -> Any:
        return self.post("/locks/{name}/release", {"lease_id": lease_id}, name=name)

    def inspect(self, name: str) -> Any:
        return self.send(self.event("GET", "/locks/{name}", name=name))

    def list_page(self, prefix: str) -> Any:
        return self.send({**self.event("GET", "/locks"), "queryStringParameters": {"prefix": prefix, "limit": "50"}})

    def post(self, resource: str, body: Mapping[str, Any] | None, **path: str) -> Any:
        return self.send(self.event("POST", resource, body, **path))

    def send(self, event: Event) -> Any:
        answer = self._app(event, None)
        if not 200 <= answer["statusCode"] < 300:
            raise RuntimeError(f"{event['path']} answered {answer['statusCode']}: {answer['body']}")
        return json.loads(answer["body"] or "null")

    def event(self, method: str, resource: str, body: Mapping[str, Any] | None = None, **path: str) -> Event:
        """What API Gateway sends for a request to a regional REST API."""
        segments = {parameter: value.replace("/", "%2F") for parameter, value in path.items()}
        return {
            "resource": resource,
            "path": resource.format(**segments),
            "httpMethod": method,
            "headers": self._headers(),
            "multiValueHeaders": {header: [value] for header, value in self._headers().items()},
            "queryStringParameters": None,
            "multiValueQueryStringParameters": None,
            "pathParameters": segments or None,
            "stageVariables": None,
            "requestContext": _request_context(method, resource, self._read_us() // 1000),
            "body": None if body is None else json.dumps(body),
            "isBase64Encoded": False,
        }

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate",
            "Authorization": f"Bearer {self._bearer}",
            "Content-Type": "application/json",
            "Host": "a1b2c3d4e5.execute-api.us-east-1.amazonaws.com",
            "User-Agent": "octolease/0.1",
            "X-Amzn-Trace-Id": "Root=1-691c6b2a-0f2b5d5c6d7e8f901a2b3c4d",
            "X-Forwarded-For": "203.0.113.7",
            "X-Forwarded-Port": "443",
            "X-Forwarded-Proto": "https",
        }


def _request_context(method: str, resource: str, now_ms: int) -> dict[str, Any]:
    return {
        "resourcePath": resource,
        "httpMethod": method,
        "path": f"/api{resource}",
        "protocol": "HTTP/1.1",
        "stage": "api",
        "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
        "requestTimeEpoch": now_ms,
        "identity": {"sourceIp": "203.0.113.7"},
    }
