"""The job face: what agents use."""

from collections.abc import Sequence

from chalicelib import names
from chalicelib.call import Answer, Call
from chalicelib.claims import AllOf, NoneOf, from_the_callers_start
from chalicelib.errors import InvalidInput
from chalicelib.faces import asking
from chalicelib.faces import job_answers as answers
from chalicelib.outcomes import Claimed
from chalicelib.verbs import claim as claiming
from chalicelib.verbs import handover as handing
from chalicelib.verbs import heartbeat as beating
from chalicelib.verbs.release import Failed, Finished, Freely, Release
from chalicelib.wire import jobs as wire


def claim(call: Call, segment: str) -> Answer:
    key = call.key(segment)
    (ask,) = _asks(call, [key], call.exact_body(wire.Claim), "claim")
    outcome = call.service.leases.claim(ask, call.clock)
    if isinstance(outcome, Claimed):
        return Answer(answers.claimed(outcome), outcome="claimed")
    refusal = answers.refusal(outcome, call.jitter)
    return Answer(refusal, outcome=str(refusal.__struct_config__.tag))


def claim_any(call: Call) -> Answer:
    body = call.exact_body(wire.ClaimAny)
    keys = _keys(call, body.jobs)
    asks = _asks(call, keys, body, "claim-any")
    outcome = call.service.claims.any_of(asks if body.in_order else from_the_callers_start(asks), call.clock)
    match outcome:
        case Claimed():
            return Answer(answers.claimed(outcome), outcome="claimed")
        case NoneOf(refusals, unreadable):
            for key in unreadable:
                call.note(f"unreadable row passed by: {key}")
            as_asked = sorted(refusals, key=lambda one: keys.index(one.row.key))
            return Answer(answers.none_of(as_asked, call.jitter), outcome="none")


def claim_all(call: Call) -> Answer:
    body = call.exact_body(wire.ClaimAll)
    outcome = call.service.claims.all_of(_asks(call, _keys(call, body.jobs), body, "claim-all"), call.clock)
    match outcome:
        case AllOf(claimed):
            return Answer(answers.all_of(claimed), outcome="claimed")
        case NoneOf(refusals):
            return Answer(answers.not_all(refusals, call.jitter), outcome="held")


def _asks(call: Call, keys: Sequence[str], body: wire.Claim, route: str) -> list[claiming.Ask]:
    """One for each name, alike in all but the name. The session is read once."""
    ttl_ms = asking.ttl_ms(call, body.ttl_seconds or wire.DEFAULT_TTL_SECONDS)
    metadata_json, session = asking.metadata_json(body.metadata), asking.bound(call, body.session_id)
    max_attempts, request_key = body.max_attempts or claiming.UNLIMITED, call.service.draw().hex
    body_hash = asking.body_hash(route, sorted(keys), body.owner, body.metadata, ttl_ms, body.session_id, max_attempts)
    return [
        claiming.Ask(
            key=key,
            held_in=call.service.held.shard_of(key),
            request_key=request_key,
            idempotency_key=body.idempotency_key,
            body_hash=body_hash,
            principal=call.principal.id,
            owner=body.owner,
            metadata_json=metadata_json,
            ttl_ms=ttl_ms,
            max_attempts=max_attempts,
            session=session,
        )
        for key in keys
    ]


def _keys(call: Call, jobs: Sequence[str]) -> list[str]:
    if len(set(jobs)) != len(jobs):
        raise InvalidInput("jobs: a name stands in it twice. Send each once.", field="jobs")
    for name in jobs:
        call.principal.require_name(names.checked(name, field="jobs"))
    return [names.key_of(call.principal.namespace, name) for name in jobs]


def heartbeat(call: Call, segment: str) -> Answer:
    name, body = call.name(segment), call.exact_body(wire.Heartbeat)
    ask = beating.Ask(
        key=names.key_of(call.principal.namespace, name),
        lease_id=str(body.lease_id),
        ttl_ms=None if body.ttl_seconds is None else asking.ttl_ms(call, body.ttl_seconds),
        checkpoint_json=_checkpoint_json(body.checkpoint),
        metadata_json=None if body.metadata is None else asking.metadata_json(body.metadata),
        logged=call.service.settings.log_heartbeats,
    )
    return Answer(answers.kept(name, call.service.leases.heartbeat(ask, call.clock)), outcome="kept")


def _checkpoint_json(checkpoint: object) -> str | None:
    if checkpoint is None:
        return None
    return asking.json_text("checkpoint", checkpoint, largest_bytes=wire.LARGEST_CHECKPOINT_BYTES)


def release(call: Call, segment: str) -> Answer:
    name, body = call.name(segment), call.exact_body(wire.ReleaseJob)
    verb = Release(names.key_of(call.principal.namespace, name), str(body.lease_id), _outcome(body))
    answer = answers.released(name, call.service.leases.release(verb, call.clock), body.outcome)
    return Answer(answer, outcome=body.outcome or "released")


def _outcome(body: wire.ReleaseJob) -> Freely | Failed | Finished:
    if body.outcome != "done" and (body.result is not None or body.retain_seconds is not None):
        field = "result" if body.result is not None else "retain_seconds"
        raise InvalidInput(f"{field}: only with outcome 'done'. To say why it failed, send reason.", field=field)
    if body.outcome != "failed" and body.reason is not None:
        raise InvalidInput("reason: only with outcome 'failed'. To keep what came of it, send result.", field="reason")
    match body.outcome:
        case "done":
            result_json = asking.json_text("result", body.result, largest_bytes=wire.LARGEST_RESULT_BYTES)
            return Finished(result_json, (body.retain_seconds or wire.DEFAULT_RETAIN_SECONDS) * 1000)
        case "failed":
            return Failed(body.reason or "")
        case None:
            return Freely()


def hand_over(call: Call, segment: str) -> Answer:
    key, body = call.key(segment), call.exact_body(wire.HandOver)
    ttl_ms = None if body.ttl_seconds is None else asking.ttl_ms(call, body.ttl_seconds)
    checkpoint_json = _checkpoint_json(body.checkpoint)
    ask = handing.Ask(
        key=key,
        lease_id=str(body.lease_id),
        to_owner=body.to_owner,
        principal=call.principal.id,
        request_key=call.service.draw().hex,
        idempotency_key=body.idempotency_key,
        body_hash=asking.body_hash("handover", str(body.lease_id), body.to_owner, ttl_ms, body.checkpoint),
        ttl_ms=ttl_ms,
        checkpoint_json=checkpoint_json,
    )
    return Answer(answers.claimed(call.service.leases.hand_over(ask, call.clock)), outcome="handed_over")


def inspect(call: Call, segment: str) -> Answer:
    answer = answers.job(call.service.leases.inspect(call.key(segment), call.clock))
    return Answer(answer, outcome=answer.status)


def list_held(call: Call) -> Answer:
    owner = call.request.query.get("owner")
    page = asking.held_page(call, asking.prefix_asked_for(call), lambda row: owner is None or row.owner == owner)
    return Answer(wire.JobPage([answers.job(held) for held in page.held], page.next_cursor))
