import boto3
import pytest

from infra.options import CannotStart, Options, read_options


def test_without_a_word_it_is_port_8080_of_this_machine_alone() -> None:
    assert read_options({}) == Options(host="127.0.0.1", port=8080, endpoint=None)


def test_an_empty_setting_is_as_good_as_none() -> None:
    assert read_options({"PORT": "", "HOST": "", "ENDPOINT": ""}) == read_options({})


def test_each_can_be_set() -> None:
    asked = {"PORT": "0", "HOST": "::1", "ENDPOINT": "http://127.0.0.1:8000"}
    assert read_options(asked) == Options(host="::1", port=0, endpoint="http://127.0.0.1:8000")


@pytest.mark.parametrize("port", ["http", "-1", "65536", "8080.0", "٨٠٨٠", " 80"])
def test_what_is_no_port_is_refused_with_an_example(port: str) -> None:
    with pytest.raises(CannotStart, match="PORT=8080"):
        read_options({"PORT": port})


@pytest.mark.parametrize(
    "endpoint", ["http://localhost", "https://dynamodb.eu-central-1.amazonaws.com/", "http://[::1]:8000", "http://a:1"]
)
def test_an_endpoint_has_a_host_and_perhaps_a_port(endpoint: str) -> None:
    assert read_options({"ENDPOINT": endpoint}).endpoint == endpoint
    assert boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1").meta.endpoint_url == endpoint


@pytest.mark.parametrize(
    "endpoint",
    [
        *("127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://a b", "http://?x", "http://127.0.0.1#f"),
        *("http://127.0.0.1:0", "http://127.0.0.1:65536", "http://localhost:abc", "http://:8000", "http://127.0.0.1:"),
        *("http://[::1", "http://[:::::]:1", "http://a_b:1", "http://-a:1", "http://a..b:1", "http://é:1"),
        *("http://user:password@127.0.0.1:8000", "http://127.0.0.1:8000/path", "http://127.0.0.1\n"),
        "http://" + "a" * 64,
    ],
)
def test_what_is_no_endpoint_is_refused_with_an_example(endpoint: str) -> None:
    with pytest.raises(CannotStart, match=r"such as http://127\.0\.0\.1:8000"):
        read_options({"ENDPOINT": endpoint})
