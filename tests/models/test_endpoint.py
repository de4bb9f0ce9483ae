import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.errors import Misuse
from evenhand.models.endpoint import Endpoint, resolve
from evenhand.models.provider import providers
from tests.refusals import refused

HOSTS = st.lists(st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8), min_size=1, max_size=3).map(
    lambda labels: "h" + ".".join(labels)
)
PATHS = st.lists(st.text(string.ascii_letters + "-", min_size=1, max_size=6), max_size=3).map(
    lambda parts: "".join(f"/{part}" for part in parts)
)


def at(base_url: str, name: str = "openai/gpt-4o") -> Endpoint:
    return resolve(name, base_url=base_url, environment={})


@pytest.mark.parametrize("name", sorted(providers()))
def test_every_provider_is_asked_at_its_address_without_a_key(name: str) -> None:
    endpoint = resolve(f"{name}/some/model", environment={})
    assert endpoint.identity == name
    assert endpoint.model == "some/model"
    assert endpoint.chat_url == providers()[name].base_url + "/chat/completions"
    assert endpoint.key_required is (name not in {"ollama", "vllm", "sglang", "llamacpp"})


def test_the_providers_of_the_design_are_all_there() -> None:
    assert set(providers()) == {
        "openai", "anthropic", "google", "mistral", "together", "openrouter", "groq", "deepseek", "xai",
        "ollama", "vllm", "sglang", "llamacpp",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opnai/gpt-4o", "openai"),
        ("OpenAI/gpt-4o", "openai"),
        ("mistal/large", "mistral"),
        ("locl/smollm2", "local"),
        ("openai:gpt-4o", "write openai/gpt-4o"),
        ("gpt-4o", "openai/gpt-4o"),
        ("zzzzqq/x", "the providers are openai, anthropic"),
        ("openai/", "names no model"),
        ("", "names no model"),
    ],
)
def test_a_name_that_is_none_gets_a_sentence_with_what_to_write(name: str, hint: str) -> None:
    with pytest.raises(Misuse, match=hint):
        resolve(name, environment={})


def test_at_a_base_url_an_unknown_prefix_is_part_of_the_model() -> None:
    assert at("http://gpu:8000/v1", "meta-llama/Llama-3").model == "meta-llama/Llama-3"
    assert at("http://gpu:8000/v1", "llava").name == "llava"
    assert at("http://gpu:8000/v1", "vllm/google/gemma").model == "google/gemma"


@given(host=HOSTS, path=PATHS, port=st.sampled_from(["", ":8000"]), query=st.text(string.ascii_letters, min_size=1))
def test_an_own_url_is_one_identity_however_it_is_spelt(host: str, path: str, port: str, query: str) -> None:
    plain = f"http://{host}{port}{path}"
    spellings = [
        plain + "/",
        f"HTTP://{host.upper()}{port}{path}",
        f"{plain}?key={query}",
        f"{plain}#{query}",
        f"  {plain}/chat/completions ",
        f"{plain}/chat/completions/",
    ]
    assert at(plain).identity == plain
    assert {at(spelling).identity for spelling in spellings} == {plain}


@given(host=HOSTS, other=HOSTS, path=PATHS)
def test_another_host_scheme_port_or_path_is_another_identity(host: str, other: str, path: str) -> None:
    identities = {at(f"{url}{path}").identity for url in (f"http://{host}", f"https://{host}", f"http://{host}:81")}
    identities.add(at(f"http://{host}{path}/more").identity)
    assert len(identities) == 4
    assert (at(f"http://{host}").identity == at(f"http://{other}").identity) is (host == other)


def test_a_default_port_is_not_part_of_the_identity() -> None:
    assert at("https://api.example.org:443/v1").identity == "https://api.example.org/v1"
    assert at("http://[::1]:8000/v1").identity == "http://[::1]:8000/v1"


def test_the_providers_own_address_given_by_hand_is_still_the_provider() -> None:
    assert at("https://API.openai.com:443/v1/").identity == "openai"


def test_an_endpoint_name_replaces_an_address_that_changes() -> None:
    names = [
        resolve("vllm/m", base_url=url, endpoint_name="lab", environment={}).identity
        for url in ("http://10.0.0.1:8000/v1", "http://10.0.0.2:8000/v1")
    ]
    assert names == ["lab", "lab"]
    assert resolve("vllm/m", endpoint_name="lab", environment={}).identity == "lab"


@pytest.mark.parametrize(("model", "given_name"), [("openai/gpt-4o", "lab"), ("vllm/m", "openai")])
def test_an_endpoint_name_neither_hides_nor_impersonates_a_provider(model: str, given_name: str) -> None:
    with pytest.raises(Misuse, match="endpoint-name"):
        resolve(model, endpoint_name=given_name, environment={})


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter22@host/v1",
        "http://hunter22@host",
        "localhost:8000/v1",
        "ftp://hunter22",
        "http:///v1",
        "http://h:x/",
        "http://a..b/v1",
        f"http://{'a' * 64}.com/v1",
        "http://a b/v1",
    ],
)
def test_a_base_url_that_is_none_is_refused_without_showing_what_it_holds(url: str) -> None:
    with pytest.raises(Misuse, match=r"--base-url") as caught:
        at(url)
    assert "hunter22" not in str(caught.value)


def test_the_base_url_may_come_from_the_environment_the_flag_first() -> None:
    legacy = resolve("openai/m", environment={"OPENAI_API_BASE": "http://old/v1"})
    assert (legacy.base_url, legacy.url_variable) == ("http://old/v1", "OPENAI_API_BASE")
    both = {"OPENAI_API_BASE": "http://old/v1", "OPENAI_BASE_URL": "http://new/v1"}
    assert resolve("openai/m", environment=both).base_url == "http://new/v1"
    flag = resolve("openai/m", base_url="http://flag/v1", environment=both)
    assert (flag.base_url, flag.url_variable) == ("http://flag/v1", None)
    assert resolve("mistral/m", environment={"MISTRAL_BASE_URL": "http://here/v1"}).identity == "http://here/v1"
    with pytest.raises(Misuse, match="OPENAI_BASE_URL"):
        resolve("openai/m", environment={"OPENAI_BASE_URL": "nonsense"})


def test_a_query_is_sent_but_never_shown() -> None:
    endpoint = at("http://gateway/v1?key=hunter22")
    assert endpoint.chat_url == "http://gateway/v1/chat/completions?key=hunter22"
    assert "hunter22" not in repr(endpoint)


def test_google_takes_either_variable() -> None:
    endpoint = resolve("google/gemini", environment={})
    assert endpoint.key({"GEMINI_API_KEY": "abc"}) == "abc"
    assert endpoint.key({"GEMINI_API_KEY": "abc", "GOOGLE_API_KEY": "def"}) == "def"
    with refused(Misuse, "GOOGLE_API_KEY or GEMINI_API_KEY", code="EH-KEY-MISSING"):
        endpoint.key({"GOOGLE_API_KEY": " "})


def test_a_server_of_ones_own_needs_no_key_unless_a_variable_is_named() -> None:
    assert at("http://127.0.0.1:1/v1").key({}) is None
    assert resolve("vllm/m", environment={}).key({}) is None
    named = resolve("vllm/m", api_key_env="MY_KEY", environment={})
    with refused(Misuse, "MY_KEY", code="EH-KEY-MISSING"):
        named.key({})


@pytest.mark.parametrize(
    "key",
    [
        "sk-hunter22",
        "sk-ant-api03-" + "hunter22" * 10,
        "hf_hunter22" + "AbCdEfGhIj" * 3,
        "gsk_hunter22" + "a1B2c3D4" * 6,
        "hunter22AIzaSyA0b1C2d3E4f5G6h7I8j9K0l1M2n3",
        "hunter22" + "0123456789abcdef" * 3,
        "hunter22 ",
        "$hunter22",
        "2hunter22",
    ],
)
def test_a_key_given_for_its_variables_name_is_refused_unshown(key: str) -> None:
    with refused(Misuse, "--api-key-env OPENAI_API_KEY") as caught:
        resolve("vllm/m", api_key_env=key, environment={})
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    "variable", ["k", "_KEY", "OPENAI_API_KEY_2", "MY_DEPARTMENTOFLINGUISTICS_PROJECT_KEY", "evaluationsharedkey"]
)
def test_a_variables_name_may_be_long_and_in_either_case(variable: str) -> None:
    assert resolve("vllm/m", api_key_env=variable, environment={}).key({variable: "abc"}) == "abc"


def test_a_variable_that_is_set_has_a_name_whatever_it_looks_like() -> None:
    variable = "key4evaluations2026Team"
    endpoint = resolve("vllm/m", api_key_env=variable, environment={variable: "abc"})
    assert endpoint.key({variable: "abc"}) == "abc"


def test_an_unlisted_server_is_sent_no_other_services_key() -> None:
    assert at("http://elsewhere/v1", "llava").key({"OPENAI_API_KEY": "sk-1"}) is None


def test_a_key_with_a_line_break_is_refused_unshown() -> None:
    endpoint = resolve("openai/m", environment={})
    with pytest.raises(Misuse, match="OPENAI_API_KEY") as caught:
        endpoint.key({"OPENAI_API_KEY": "sk-hunter22\nX-Evil:1"})
    assert "hunter22" not in str(caught.value)


def test_an_explicit_setting_that_is_known_to_be_ignored_is_an_error_that_names_it() -> None:
    endpoint = resolve("anthropic/claude", environment={})
    with refused(Misuse, "anthropic", "response_format, seed", code="EH-SETTING-REFUSED"):
        endpoint.check_settings({"seed", "response_format", "temperature"})
    endpoint.check_settings({"temperature", "top_p", "stop", "max_tokens"})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://[::1]/v1", True),
        ("http://LocalHost/v1", True),
        ("http://a.org", False),
        ("http://localhost.a.org", False),
        ("http://a.localhost", False),
        ("http://localhost./v1", False),
        ("http://127.1", False),
        ("http://2130706433", False),
        ("http://0.0.0.0", False),
        ("http://[::]", False),
        ("http://[::ffff:10.0.0.1]", False),
    ],
)
def test_loopback_is_recognised(url: str, expected: bool) -> None:
    endpoint = at(url)
    assert endpoint.loopback is expected
    if not expected:
        with refused(Misuse, "--insecure-http", code="EH-KEY-UNENCRYPTED"):
            endpoint.key({"OPENAI_API_KEY": "sk-0000000000"})
