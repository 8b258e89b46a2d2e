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


@pytest.mark.parametrize("endpoint", ["127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://a b"])
def test_what_is_no_endpoint_is_refused_with_an_example(endpoint: str) -> None:
    with pytest.raises(CannotStart, match=r"such as http://127\.0\.0\.1:8000"):
        read_options({"ENDPOINT": endpoint})
