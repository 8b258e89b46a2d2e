"""What `make run` says once it runs."""

from pathlib import Path

from infra import address
from infra.options import Options

EXAMPLE_BODY = '{"ttl_seconds":60,"metadata":"host=runner-7 build=1842"}'


def welcome(options: Options, url: str, token: str, notes: list[str]) -> str:
    store = options.endpoint or "embedded DynamoDB, forgotten at the end"
    said = "".join(f"{note}\n" for note in (*reachable_by_others(options.host), *notes))
    return f"""\
Octolease runs at {url} ({store}). Ctrl-C ends it.
{said}
Admin token: {token}

Try it:
curl -sS -w '\\n' -X POST {url}/locks/deploy-main/acquire -H 'Authorization: Bearer {token}' \
-H 'Content-Type: application/json' -d '{EXAMPLE_BODY}'
"""


def reachable_by_others(host: str) -> list[str]:
    if address.is_loopback(host):
        return []
    return [f"Warning: {host} can be reached from other machines, and tokens travel there in clear text."]


def not_published(file: Path, other_url: str) -> str:
    return (
        f"Note: {file} goes on to name the service at {other_url}, which runs too. "
        "Give tools that shall use this one its URL and token."
    )
