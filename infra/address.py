"""Where the server listens, in words that people and browsers understand."""

import errno
import ipaddress
import socket

from infra.options import Options

# An address to listen on, but none to connect to.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 # translated, not listened on


def url(host: str, port: int) -> str:
    host = _EVERYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    address = socket.getaddrinfo(host, None)[0][4][0]
    return ipaddress.ip_address(address).is_loopback


def why_not(error: OSError | UnicodeError, options: Options) -> str:
    if isinstance(error, UnicodeError):  # that is how a host with an empty or endless part of a name fails
        return f"HOST={options.host} is no name of a machine. Leave it out to use 127.0.0.1."
    if error.errno == errno.EADDRINUSE:
        another = options.port + 1 if options.port < 65535 else 8080
        return f"Port {options.port} is taken. Stop what uses it, or take another one: make run PORT={another}"
    if error.errno == errno.EACCES:
        return f"Port {options.port} is reserved for the system. Take one above 1023: make run PORT=8080"
    return f"HOST={options.host} is no address of this machine ({error.strerror}). Leave it out to use 127.0.0.1."
