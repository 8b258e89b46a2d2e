"""Every route of the service. A view names what answers it; the rest is in chalicelib."""

import os

from chalicelib import access, locks, openapi, operations, service, settings, status
from chalicelib.call import Answer, Call
from chalicelib.edge import Application

_settings = settings.load(os.environ)
app = Application(service.build(_settings, service.connect(_settings)))


@app.serves("POST", "/locks/{name}/acquire", operations.ACQUIRE)
def acquire_lock(call: Call, name: str) -> Answer:
    return locks.acquire(call, name)


@app.serves("POST", "/locks/{name}/renew", operations.RENEW)
def renew_lock(call: Call, name: str) -> Answer:
    return locks.renew(call, name)


@app.serves("POST", "/locks/{name}/release", operations.RELEASE)
def release_lock(call: Call, name: str) -> Answer:
    return locks.release(call, name)


@app.serves("GET", "/locks/{name}", operations.INSPECT)
def inspect_lock(call: Call, name: str) -> Answer:
    return locks.inspect(call, name)


@app.serves("GET", "/locks", operations.LIST)
def list_locks(call: Call) -> Answer:
    return locks.list_held(call)


@app.serves("POST", "/tokens", operations.CREATE_TOKEN)
def create_token(call: Call) -> Answer:
    return access.create(call)


@app.serves("GET", "/tokens", operations.LIST_TOKENS)
def list_tokens(call: Call) -> Answer:
    return access.list_tokens(call)


@app.serves("DELETE", "/tokens/{token_id}", operations.REVOKE_TOKEN)
def revoke_token(call: Call, token_id: str) -> Answer:
    return access.revoke(call, token_id)


@app.serves("POST", "/auth/token/rotate", operations.ROTATE_TOKEN)
def rotate_token(call: Call) -> Answer:
    return access.rotate(call)


@app.serves("GET", "/health", operations.HEALTH)
def health() -> Answer:
    return status.health()


@app.serves("GET", "/openapi.json", operations.OPENAPI)
def openapi_page() -> Answer:
    return openapi.page(app.operations, _settings)
