from typing import Any

from chalice.app import Chalice, Response


class RecordingApp(Chalice):
    """A tiny app that remembers every event it was given."""

    def __init__(self) -> None:
        super().__init__("tiny", configure_logs=False)
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        self.events.append(event)
        return super().__call__(event, context)


def tiny_app() -> RecordingApp:
    app = RecordingApp()

    @app.route("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.route("/locks/{name}/acquire", methods=["POST"], content_types=[])
    def acquire(name: str) -> dict[str, str]:
        return {"acquired": name}

    @app.route("/locks/{name}", methods=["GET", "DELETE"])
    def lock(name: str) -> dict[str, str]:
        return {"name": name}

    @app.route("/locks/all")
    def every_lock() -> dict[str, str]:
        return {"name": "the literal route"}

    @app.route("/nothing", methods=["DELETE"])
    def nothing() -> Response:
        return Response(body="", status_code=204, headers={"X-Request-Id": "req_of_the_app"})

    return app
