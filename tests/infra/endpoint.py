"""The embedded DynamoDB behind a port, as somebody's own would be: with its streams, and living on between services."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, HeadersDict
from moto.core.models import botocore_stubber


class Endpoint(BaseHTTPRequestHandler):
    """A connection for each request, so that none outlives the server."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_stream = self.headers["X-Amz-Target"].startswith("DynamoDBStreams")
        url = f"https://{'streams.' if is_stream else ''}dynamodb.us-east-1.amazonaws.com/"
        headers = HeadersDict(dict(self.headers.items()))
        answer: Any = botocore_stubber.process_request(AWSPreparedRequest("POST", url, headers, body, False))
        self._answer(*answer)

    def _answer(self, status: int, headers: dict[str, str], body: str) -> None:
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(body.encode()))}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def listening() -> Iterator[str]:
    """Its URL. To be used inside `embedded.dynamodb()`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
