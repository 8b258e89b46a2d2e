from contextlib import suppress
from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from infra import http1

FRAGMENTS = st.sampled_from(
    [
        *(b"GET", b"POST", b" ", b"/locks/a", b" HTTP/1.1", b"\r\n", b"\n", b"\r", b":", b"\x00", b"\xff"),
        *(b"Content-Length: 3", b"Content-Length: 99999999999", b"Transfer-Encoding: chunked"),
        *(b"Expect: 100-continue", b"3", b"abc", b"0", b"FFFFFFFF", b";"),
    ]
)
BYTES = st.binary() | st.lists(FRAGMENTS, max_size=30).map(b"".join)


@given(BYTES)
def test_any_bytes_are_a_request_or_refused_with_a_sentence(sent: bytes) -> None:
    stream = BytesIO(sent)
    with suppress(http1.BadRequest, http1.BodyTooLarge):
        head = http1.read_head(stream)
        if head is not None:
            http1.read_body(stream, head, lambda _: None)


@given(st.lists(st.binary(min_size=1)))
def test_a_body_in_chunks_comes_out_as_it_went_in(chunks: list[bytes]) -> None:
    sent = b"".join(b"%X\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    head = http1.Head("POST", "/", 1, [("Transfer-Encoding", "chunked")])
    assert http1.read_body(BytesIO(sent), head, lambda _: None) == b"".join(chunks)


@given(BYTES)
def test_a_request_never_takes_bytes_of_the_next_one(body: bytes) -> None:
    following = b"GET /health HTTP/1.1\r\n\r\n"
    stream = BytesIO(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body + following)
    head = http1.read_head(stream)
    assert head is not None
    assert http1.read_body(stream, head, lambda _: None) == body
    assert stream.read() == following
