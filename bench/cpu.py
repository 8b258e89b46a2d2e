"""CPU of a warm acquire through the whole handler, over the CPU of the DynamoDB call that it makes."""

from bench import handler, transport
from bench.caller import ACQUIRE, NAME, Caller
from bench.figures import Figure, Required, Section, at_most
from bench.pynamodb_anew import builder_of_an_acquire
from bench.recording import writes_of
from bench.timing import Round, Timed, interleaved, repeated
from chalicelib.edge import Application
from chalicelib.tokens import NewToken

_NOTES = (
    "CPU time of this process, medians of interleaved rounds. DynamoDB's answer is given at botocore's before-send. "
    "The handler runs with all it has: token (cached), validation, log and metric line (to the null device). The raw "
    "call has the very parameters that the handler sent, by a client of boto3's own defaults.",
    "The service's client leaves out botocore's check of parameters, because they are compiled forms. Over a raw call "
    "by that same client, the second line shows all that the service adds. The third is what it saves by compiling.",
)


def of_an_acquire() -> Section:
    timed = interleaved(_subjects())
    whole, default, lean, anew = (timed[name] for name in ("handler", "default", "lean", "anew"))
    figures = (
        _ratio("handler / raw boto3 call", whole, default, at_most(1.2)),
        _ratio("handler / raw call, its own client", whole, lean),
        _ratio("PynamoDB anew / raw boto3 call", anew, default),
    )
    return Section("CPU of a warm acquire", "ratio", figures, _NOTES)


def _ratio(what: str, mine: Timed, theirs: Timed, required: Required | None = None) -> Figure:
    measured = f"{mine.us:.0f} µs / {theirs.us:.0f} µs"
    return Figure(what, measured, mine.over(theirs), required, {"us": mine.us, "over_us": theirs.us})


def _subjects() -> dict[str, Round]:
    token, recording = handler.a_token(), writes_of(lambda caller: caller.acquire(NAME, **ACQUIRE))
    (sent,), (row,) = recording.sent, recording.rows
    stub = transport.granting(token, row)
    app = handler.start(attach=stub.attach)
    default, lean = handler.plain_client(), handler.service_client()
    for client in (default, lean):
        stub.attach(client.meta.events)
    return {
        "handler": _acquires(app, token),
        "default": repeated(lambda: default.update_item(**sent)),
        "lean": repeated(lambda: lean.update_item(**sent)),
        "anew": repeated(builder_of_an_acquire(sent["Key"]["key"]["S"])),
    }


def _acquires(app: Application, token: NewToken) -> Round:
    caller = Caller(app, token.bearer)
    caller.acquire(NAME, **ACQUIRE)

    def run(times: int) -> None:
        # Made anew for each round: the app refuses an event whose stamp is old.
        event = caller.acquire_event(NAME, **ACQUIRE)
        for _ in range(times):
            app(event, None)

    return run
