"""A client that speaks to the app as API Gateway does: an event in, an answer out."""

import json
import time
from collections.abc import Mapping
from typing import Any

from chalicelib.edge import Application

# As long as those of a CI job: what a row weighs and what a request costs depends on it.
NAME = "repo/acme-web/issue-1842"
OWNER = "runner-7/build-1842"
METADATA = "host=runner-7 build=1842 commit=9f2c1ab branch=main try=1"
IDEMPOTENCY_KEY = "0b9de4c1-51f0-4c55-a1f6-7f0c3b1d2e90"
ACQUIRE = {"ttl_seconds": 60, "metadata": METADATA, "owner": OWNER, "idempotency_key": IDEMPOTENCY_KEY}

Event = dict[str, Any]


class Caller:
    """One client of the app."""

    def __init__(self, app: Application, bearer: str) -> None:
        self._app = app
        self._bearer = bearer

    def acquire(self, name: str, **body: Any) -> Any:
        return self.send(self.acquire_event(name, **body))

    def acquire_event(self, name: str, **body: Any) -> Event:
        return self.event("POST", "/locks/{name}/acquire", name, body)

    def renew(self, name: str, lease_id: str) -> Any:
        return self.send(self.event("POST", "/locks/{name}/renew", name, {"lease_id": lease_id, "ttl_seconds": 60}))

    def release(self, name: str, lease_id: str) -> Any:
        return self.send(self.event("POST", "/locks/{name}/release", name, {"lease_id": lease_id}))

    def inspect(self, name: str) -> Any:
        return self.send(self.event("GET", "/locks/{name}", name))

    def list_page(self, prefix: str) -> Any:
        return self.send({**self.event("GET", "/locks"), "queryStringParameters": {"prefix": prefix, "limit": "50"}})

    def send(self, event: Event) -> Any:
        answer = self._app(event, None)
        if answer["statusCode"] != 200:
            raise RuntimeError(f"{event['path']} answered {answer['statusCode']}: {answer['body']}")
        return json.loads(answer["body"])

    def event(self, method: str, resource: str, name: str = "", body: Mapping[str, Any] | None = None) -> Event:
        """What API Gateway sends for a request to a regional REST API."""
        segment = name.replace("/", "%2F")
        return {
            "resource": resource,
            "path": resource.format(name=segment),
            "httpMethod": method,
            "headers": self._headers(),
            "multiValueHeaders": {header: [value] for header, value in self._headers().items()},
            "queryStringParameters": None,
            "multiValueQueryStringParameters": None,
            "pathParameters": {"name": segment} if name else None,
            "stageVariables": None,
            "requestContext": _request_context(method, resource),
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


def _request_context(method: str, resource: str) -> dict[str, Any]:
    return {
        "resourcePath": resource,
        "httpMethod": method,
        "path": f"/api{resource}",
        "protocol": "HTTP/1.1",
        "stage": "api",
        "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
        "requestTimeEpoch": time.time_ns() // 1_000_000,
        "identity": {"sourceIp": "203.0.113.7"},
    }
