"""Every route of the service, the stream's handler and the schedule. A view names what answers it; the rest is in
chalicelib."""

import os
from collections.abc import Mapping
from typing import Any

from chalice.app import CloudWatchEvent, DynamoDBEvent, Rate

from chalicelib import openapi, service, settings, triggers
from chalicelib.call import Answer, Call
from chalicelib.edge import Application
from chalicelib.faces import events, jobs, locks, recovery, sessions, status, steering, tokens
from chalicelib.operations import events as event_routes
from chalicelib.operations import jobs as job_routes
from chalicelib.operations import locks as lock_routes
from chalicelib.operations import service as service_routes
from chalicelib.operations import sessions as session_routes
from chalicelib.operations import tokens as token_routes

_settings = settings.load(os.environ)
app = Application(service.build(_settings, service.connect(_settings)))


@app.serves("POST", "/jobs/claim-any", job_routes.CLAIM_ANY)
def claim_any_job(call: Call) -> Answer:
    return jobs.claim_any(call)


@app.serves("POST", "/jobs/claim-all", job_routes.CLAIM_ALL)
def claim_all_jobs(call: Call) -> Answer:
    return jobs.claim_all(call)


@app.serves("POST", "/jobs/{name}/claim", job_routes.CLAIM)
def claim_job(call: Call, name: str) -> Answer:
    return jobs.claim(call, name)


@app.serves("POST", "/jobs/{name}/heartbeat", job_routes.HEARTBEAT)
def heartbeat_job(call: Call, name: str) -> Answer:
    return jobs.heartbeat(call, name)


@app.serves("POST", "/jobs/{name}/release", job_routes.RELEASE)
def release_job(call: Call, name: str) -> Answer:
    return jobs.release(call, name)


@app.serves("POST", "/jobs/{name}/handover", job_routes.HAND_OVER)
def hand_over_job(call: Call, name: str) -> Answer:
    return jobs.hand_over(call, name)


@app.serves("POST", "/jobs/{name}/cancel", job_routes.CANCEL)
def cancel_job(call: Call, name: str) -> Answer:
    return steering.cancel(call, name)


@app.serves("POST", "/jobs/{name}/evict", job_routes.EVICT)
def evict_job(call: Call, name: str) -> Answer:
    return steering.evict(call, name)


@app.serves("POST", "/jobs/{name}/reopen", job_routes.REOPEN)
def reopen_job(call: Call, name: str) -> Answer:
    return steering.reopen(call, name)


@app.serves("GET", "/jobs/{name}", job_routes.INSPECT)
def inspect_job(call: Call, name: str) -> Answer:
    return jobs.inspect(call, name)


@app.serves("GET", "/jobs", job_routes.LIST)
def list_jobs(call: Call) -> Answer:
    return jobs.list_held(call)


@app.serves("GET", "/jobs/{name}/events", event_routes.HISTORY)
def job_events(call: Call, name: str) -> Answer:
    return events.history(call, name)


@app.serves("GET", "/events", event_routes.FEED)
def event_feed(call: Call) -> Answer:
    return events.feed(call)


@app.serves("POST", "/recovery", job_routes.RECOVER)
def recover_namespace(call: Call) -> Answer:
    return recovery.recover(call)


@app.serves("POST", "/sessions", session_routes.CREATE)
def create_session(call: Call) -> Answer:
    return sessions.create(call)


@app.serves("POST", "/sessions/{session_id}/keepalive", session_routes.KEEPALIVE)
def keep_session_alive(call: Call, session_id: str) -> Answer:
    return sessions.keepalive(call, session_id)


@app.serves("GET", "/sessions/{session_id}", session_routes.GET)
def get_session(call: Call, session_id: str) -> Answer:
    return sessions.get(call, session_id)


@app.serves("DELETE", "/sessions/{session_id}", session_routes.DELETE)
def delete_session(call: Call, session_id: str) -> Answer:
    return sessions.delete(call, session_id)


@app.serves("POST", "/locks/{name}/acquire", lock_routes.ACQUIRE)
def acquire_lock(call: Call, name: str) -> Answer:
    return locks.acquire(call, name)


@app.serves("POST", "/locks/{name}/renew", lock_routes.RENEW)
def renew_lock(call: Call, name: str) -> Answer:
    return locks.renew(call, name)


@app.serves("POST", "/locks/{name}/release", lock_routes.RELEASE)
def release_lock(call: Call, name: str) -> Answer:
    return locks.release(call, name)


@app.serves("GET", "/locks/{name}", lock_routes.INSPECT)
def inspect_lock(call: Call, name: str) -> Answer:
    return locks.inspect(call, name)


@app.serves("GET", "/locks", lock_routes.LIST)
def list_locks(call: Call) -> Answer:
    return locks.list_held(call)


@app.serves("POST", "/tokens", token_routes.CREATE)
def create_token(call: Call) -> Answer:
    return tokens.create(call)


@app.serves("GET", "/tokens", token_routes.LIST)
def list_tokens(call: Call) -> Answer:
    return tokens.list_tokens(call)


@app.serves("DELETE", "/tokens/{token_id}", token_routes.REVOKE)
def revoke_token(call: Call, token_id: str) -> Answer:
    return tokens.revoke(call, token_id)


@app.serves("POST", "/auth/token/rotate", token_routes.ROTATE)
def rotate_token(call: Call) -> Answer:
    return tokens.rotate(call)


@app.serves("GET", "/health", service_routes.HEALTH)
def health() -> Answer:
    return status.health()


@app.serves("GET", "/openapi.json", service_routes.OPENAPI)
def openapi_page() -> Answer:
    return openapi.page(app.operations, _settings)


# The template gives the stream's own address in place of this one, which is only there to be replaced.
@app.on_dynamodb_record(
    stream_arn="arn:aws:dynamodb:us-east-1:000000000000:table/leases/stream/placeholder",
    name="on_lease",
    batch_size=100,
    starting_position="TRIM_HORIZON",
)
def on_lease(event: DynamoDBEvent) -> Mapping[str, Any]:
    return triggers.on_lease(app.service, app.emit, event.to_dict()["Records"])


@app.schedule(Rate(1, unit=Rate.MINUTES), name="recover")
def recover(event: CloudWatchEvent) -> None:
    triggers.recover(app.service, app.emit, event.to_dict()["time"])
