"""OctoStore's programs, built once for this clone from the release that this service is compatible with."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

VERSION = "0.14.4"
HOME = Path(__file__).resolve().parents[2] / ".octolease" / "octostore"


class CannotInstall(Exception):
    """They cannot be had here. The message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Programs:
    octostore: Path
    octostore_test: Path


def installed(home: Path = HOME) -> Programs:
    programs = Programs(home / "bin" / "octostore", home / "bin" / "octostore-test")
    if not (_version(programs.octostore) == f"octostore {VERSION}" and programs.octostore_test.exists()):
        _install(home)
    return programs


def _version(program: Path) -> str | None:
    if not program.exists():
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True)  # noqa: S603 - our own folder
    return answer.stdout.strip()


def _install(home: Path) -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        raise CannotInstall(
            f"`make interop` builds OctoStore {VERSION} with cargo, which is not on the PATH: install Rust first."
        )
    print(f"Building OctoStore {VERSION} once for this clone, two or three minutes …", file=sys.stderr, flush=True)
    # --locked: with the dependencies that its release was tested with.
    command = [cargo, "install", "octostore", "--version", VERSION, "--locked", "--root", str(home)]
    done = subprocess.run(command)  # noqa: S603 - no part comes from outside
    if done.returncode:
        raise CannotInstall(f"OctoStore {VERSION} could not be built: cargo ended with {done.returncode}, see above.")


def environment(**more: str) -> dict[str, str]:
    """Whatever this machine has set for OctoStore stays outside, and no proxy is asked for this machine itself."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("OCTOSTORE_")}
    return {**others, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", **more}
