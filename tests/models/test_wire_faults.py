import socket
from email.utils import formatdate
from time import time

import pytest

from evenhand.domain.call import Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.rater import Settings
from evenhand.models.endpoint import resolve
from evenhand.models.wire.openai import OpenAIWire
from evenhand.models.wire.transport import MOST_BYTES, Timeouts
from tests.models.asking import KEY, OFFER, Asking, asking, completion
from tests.refusals import refused, tells
from tests.scripted_server import Canned, Script, ScriptedServer

# As a server may write it in JSON; the first letter is enough to hide it from a search in the bytes.
ESCAPED = KEY.replace("s", "\\u0073", 1).encode()


def error(message: str = "", **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


async def failing(*canned: Canned, script: Script | None = None) -> CallFailure:
    async with asking(script, canned=canned) as it:
        return await it.failure()


async def misused(*canned: Canned, script: Script | None = None, model: str = "openai/gpt-4o") -> str:
    async with asking(script, canned=canned, model=model) as it:
        with pytest.raises(Misuse) as caught:
            await it.ask()
        return str(caught.value)


async def test_a_refused_connection_is_transient_and_names_the_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        client = OpenAIWire(resolve("vllm/m", base_url=url, environment={}), environment={})
        async with ScriptedServer() as server:
            failure = await Asking(client=client, server=server).failure()
        await client.close()
    assert (failure.reason, failure.transient) == ("api-error", True)
    assert url in str(failure)
    assert "refused" in str(failure)


async def test_a_host_that_does_not_exist_is_named() -> None:
    url = "http://evenhand.invalid/v1"
    client = OpenAIWire(resolve("vllm/m", base_url=url, environment={}), environment={})
    async with ScriptedServer() as server:
        failure = await Asking(client=client, server=server).failure()
    await client.close()
    assert (failure.reason, failure.transient) == ("api-error", True)
    tells(failure, "'evenhand.invalid'")


async def test_a_hung_connection_ends_in_a_timeout() -> None:
    async with asking(Script(faults={"hang": 1.0}), timeouts=Timeouts(total=0.05)) as it:
        failure = await it.failure()
    assert (failure.reason, failure.transient) == ("timeout", True)
    assert "0.05 s" in str(failure)


async def test_a_server_without_tls_behind_https_stops_the_run() -> None:
    async with ScriptedServer() as server:
        url = server.base_url.replace("http:", "https:")
        client = OpenAIWire(resolve("vllm/m", base_url=url, environment={}), environment={})
        with pytest.raises(Misuse, match="http://"):
            await Asking(client=client, server=server).ask()
        await client.close()


async def test_a_missing_key_stops_before_any_request() -> None:
    endpoint = resolve("openai/gpt-4o", environment={})
    with refused(Misuse, "OPENAI_API_KEY", code="EH-KEY-MISSING"):
        OpenAIWire(endpoint, environment={})


@pytest.mark.parametrize("shape", ["openai", "anthropic", "vllm"])
async def test_a_wrong_key_stops_the_run_and_names_the_variable(shape: str) -> None:
    sentence = await misused(script=Script(shape=shape, key="another"))  # pyright: ignore[reportArgumentType]
    assert "401" in sentence
    assert "check PLANTED" in sentence


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=403, body=error("Country not supported.")),
        Canned(status=400, body=[error("API key not valid. Please pass a valid API key.")]),
        Canned(status=400, body={"error": "Incorrect API key provided"}),
    ],
)
async def test_a_key_that_is_refused_otherwise_names_the_variable_too(canned: Canned) -> None:
    assert "check PLANTED" in await misused(canned)


async def test_a_server_that_wants_a_key_says_how_to_give_one() -> None:
    async with ScriptedServer(Script(key="another")) as server:
        client = OpenAIWire(resolve("llava", base_url=server.base_url, environment={}), environment={})
        with refused(Misuse, "--api-key-env", code="EH-KEY-MISSING"):
            await Asking(client=client, server=server).ask()
        await client.close()


async def test_a_model_that_is_not_there_is_named_with_the_address() -> None:
    async with asking(Script(models=frozenset({"other"}))) as it:
        with pytest.raises(Misuse, match="'gpt-4o'") as caught:
            await it.ask()
        assert it.server.base_url in str(caught.value)
        assert "/v1." not in str(caught.value).replace(it.server.base_url, "")


@pytest.mark.parametrize("message", ["Model Not Exist", "Invalid model: gpt-4o"])
async def test_a_model_refused_with_a_400_stops_the_run(message: str) -> None:
    async with asking(canned=(Canned(status=400, body=error(message)),)) as it:
        with refused(Misuse, "'gpt-4o'", code="EH-MODEL-UNKNOWN"):
            await it.ask()


async def test_a_base_url_without_v1_is_told_so() -> None:
    async with ScriptedServer() as server:
        url = server.base_url.removesuffix("/v1")
        client = OpenAIWire(resolve("vllm/m", base_url=url, environment={}), environment={})
        with refused(Misuse, "/v1", code="EH-MODEL-UNKNOWN"):
            await Asking(client=client, server=server).ask()
        await client.close()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m1.5s"}, 361.5),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "120ms"}, 0.12),
    ],
)
async def test_a_rate_limit_is_transient_and_says_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    failure = await failing(Canned(status=429, body=error("Slow down."), headers=headers))
    assert (failure.reason, failure.transient, failure.status) == ("api-error", True, 429)
    assert failure.retry_after == (None if seconds is None else pytest.approx(seconds))


async def test_a_wait_may_be_given_as_a_date() -> None:
    begun = time()
    failure = await failing(Canned(status=429, headers={"Retry-After": formatdate(begun + 3600, usegmt=True)}))
    assert failure.retry_after is not None
    assert 3600 - (time() - begun) - 1 <= failure.retry_after <= 3600, "in whole seconds"
    past = await failing(Canned(status=503, headers={"Retry-After": formatdate(time() - 60, usegmt=True)}))
    assert past.retry_after == 0


async def test_geminis_wait_is_read_from_its_body() -> None:
    body = error("You exceeded your current quota.", code=429, details=[{"x": 1}, {"retryDelay": "34s"}])
    failure = await failing(Canned(status=429, body=[body]))
    assert (failure.transient, failure.retry_after) == (True, 34)


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=429, body=error("You exceeded your current quota.", code="insufficient_quota")),
        Canned(status=402, body=error("Insufficient Balance")),
        Canned(status=400, body=error("Your credit balance is too low to access the API.")),
    ],
)
async def test_an_empty_account_stops_the_run(canned: Canned) -> None:
    assert "no credit left" in await misused(canned)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
async def test_a_failing_server_is_asked_again(status: int) -> None:
    failure = await failing(Canned(status=status, body=error("Oops.")))
    assert (failure.reason, failure.transient, failure.status) == ("api-error", True, status)
    assert "Oops." in str(failure)


@pytest.mark.parametrize(
    ("status", "maybe"), [(204, True), (408, True), (502, True), (504, True), (429, False), (500, False), (503, False)]
)
async def test_what_a_model_may_have_written_may_have_been_billed(status: int, maybe: bool) -> None:
    failure = await failing(Canned(status=status, body=b"" if status == 204 else error("Oops.")))
    assert failure.maybe_billed == maybe


@pytest.mark.parametrize("status", [400, 413, 418, 422, 501])
async def test_a_request_that_will_never_do_is_not_asked_again(status: int) -> None:
    failure = await failing(Canned(status=status, body=error("The prompt is too long.")))
    assert (failure.reason, failure.transient, failure.status) == ("api-error", False, status)
    assert "The prompt is too long." in str(failure)


async def test_a_redirect_is_not_followed() -> None:
    async with ScriptedServer() as target:
        location = target.base_url.replace("127.0.0.1", "localhost") + "/chat/completions"
        sentence = await misused(Canned(status=307, headers={"Location": location}))
        assert "redirects to localhost" in sentence
        assert target.requests == []


@pytest.mark.parametrize("status", [300, 304])
async def test_what_names_no_other_place_is_no_redirect_and_no_reply(status: int) -> None:
    sentence = await misused(Canned(status=status))
    assert f"answered {status}" in sentence
    assert "redirect" not in sentence


@pytest.mark.parametrize(("status", "words"), [(200, "200 with"), (202, "202 with"), (204, "204 (no content) with")])
async def test_an_empty_success_is_told_as_what_it_is(status: int, words: str) -> None:
    failure = await failing(Canned(status=status))
    assert (failure.reason, failure.transient, failure.status) == ("bad-reply", True, status)
    assert f"answered {words} nothing in it." in str(failure)


@pytest.mark.parametrize(
    ("fault", "reason", "transient", "words"),
    [
        ("garbage", "bad-reply", True, "not answer in JSON"),
        ("html", "bad-reply", True, "HTML: is the base URL right"),
        ("truncated", "bad-reply", True, "broke off"),
        ("no-choices", "bad-reply", True, "no choice"),
        ("error-200", "bad-reply", True, "Upstream is busy."),
        ("empty", "empty-reply", True, "no text"),
        ("null", "empty-reply", True, "no text"),
        ("500", "api-error", True, "had an error"),
        ("429", "api-error", True, "limits the rate"),
    ],
)
async def test_each_scripted_fault_has_its_reason(fault: str, reason: str, transient: bool, words: str) -> None:
    failure = await failing(script=Script(faults={fault: 1.0}))  # pyright: ignore[reportArgumentType]
    assert (failure.reason, failure.transient) == (reason, transient)
    assert words in str(failure)


@pytest.mark.parametrize(
    ("body", "transient"),
    [
        (error("Slow down.", code="rate_limit_exceeded"), True),
        (error("Busy.", type="overloaded_error"), True),
        (error("Backend down.", code=502), True),
        (error("No such tool.", code="who_knows"), False),
        ({"error": "just words"}, False),
        ({"choices": [{"error": {"code": 429, "message": "Busy."}, "finish_reason": "error"}]}, True),
    ],
)
async def test_an_error_under_a_200_is_classified_by_its_code(body: dict[str, object], transient: bool) -> None:
    failure = await failing(Canned(body=body))
    assert (failure.reason, failure.transient) == ("bad-reply", transient)


async def test_a_wrong_key_told_under_a_200_stops_the_run() -> None:
    assert "check PLANTED" in await misused(Canned(body=error("Who are you?", code="invalid_api_key")))


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"{}", b'{"choices": [7]}', b'{"choices": [{}]}', b""])
async def test_json_that_is_no_completion_is_a_bad_reply(body: bytes) -> None:
    assert (await failing(Canned(body=body))).reason == "bad-reply"


@pytest.mark.parametrize("content", ["", " \n", None, [], 7])
async def test_no_content_is_an_empty_reply(content: object) -> None:
    failure = await failing(completion({"role": "assistant", "content": content}))
    assert failure.reason == "empty-reply"


BILLED = {"prompt_tokens": 10, "completion_tokens": 5}


@pytest.mark.parametrize(
    "canned",
    [
        completion("", usage=BILLED),
        completion("<think>Hmm.</think>", usage=BILLED),
        Canned(body={"choices": [], "usage": BILLED}),
        Canned(body={"usage": BILLED}),
        Canned(body={**error("Busy.", code=502), "usage": BILLED}),
        Canned(body={"error": "just words", "usage": BILLED}),
        Canned(body={"choices": [{"error": {"code": 429, "message": "Busy."}}], "usage": BILLED}),
    ],
)
async def test_a_reply_of_no_use_says_what_it_was_billed(canned: Canned) -> None:
    assert (await failing(canned)).usage == Usage(input=10, output=5)


async def test_log_probabilities_that_go_missing_are_billed_too() -> None:
    async with asking() as it:
        await it.ask(offer=OFFER)
        it.server.then(completion("A", usage=BILLED))
        with pytest.raises(CallFailure) as caught:
            await it.ask(offer=OFFER)
    assert caught.value.usage == Usage(input=10, output=5)


@pytest.mark.parametrize(
    "canned",
    [completion(""), completion("", usage={"x": 1}), Canned(body=b"{"), Canned(status=500, body={"usage": BILLED})],
)
async def test_a_failure_that_says_nothing_of_tokens_has_no_usage(canned: Canned) -> None:
    assert (await failing(canned)).usage is None


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=500, body=error("\x1b[2JAll is \x9bwell.\x07")),
        Canned(status=401, body=error("\x1b[2JAll is \x9bwell.\x07")),
        Canned(status=200, body=error("\x1b[2JAll is \x9bwell.\x07")),
        Canned(status=502, body="\x1b[2JAll is \x9bwell.\x07".encode()),
        Canned(status=200, body="\x1b[2JAll is \x9bwell.\x07".encode()),
        Canned(status=307, headers={"Location": "https://all\x9bwell.example/"}),
    ],
)
async def test_a_servers_words_cannot_steer_the_terminal(canned: Canned) -> None:
    async with asking(canned=(canned,)) as it:
        with pytest.raises((Misuse, CallFailure), match=r"\\x9bwell") as caught:
            await it.ask()
    assert str(caught.value).isprintable()


async def test_a_body_beyond_all_measure_is_refused() -> None:
    failure = await failing(Canned(body=b" " * (MOST_BYTES + 1)))
    assert (failure.reason, failure.transient) == ("bad-reply", False)
    assert "32 MB" in str(failure)


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=200, body=b'{"choices": [{"message": {"content": "' + KEY.encode() + b"\xff"),
        Canned(status=500, body=f"Traceback: Bearer {KEY}".encode()),
        Canned(status=401, body=error(f"Incorrect API key provided: {KEY}.")),
        Canned(status=400, body=error("x" * 390 + KEY)),
        Canned(status=400, body=b'{"error": {"message": "' + b"x" * 380 + ESCAPED + b'"}}'),
        Canned(status=422, body={"detail": [{"loc": ["header"], "input": KEY}]}),
        Canned(status=307, headers={"Location": f"https://{KEY}.evil.example/{KEY}"}),
        Canned(status=200, body=error(KEY, code=KEY)),
    ],
)
async def test_a_key_the_server_sends_back_is_never_shown(canned: Canned) -> None:
    async with asking(canned=(canned,)) as it:
        with pytest.raises((Misuse, CallFailure)) as caught:
            await it.ask()
        shown = [str(caught.value), repr(caught.value), repr(it.client), repr(vars(it.client))]
        shown += [repr(caught.value.__cause__), str(caught.value.__dict__)]
        assert not any(KEY[:12] in text for text in shown)


async def test_a_key_the_server_puts_in_an_answer_is_not_kept() -> None:
    plain = completion({"content": f"Your key is {KEY}.", "reasoning": KEY}, model=KEY)
    escaped = Canned(
        body=b'{"choices": [{"message": {"content": "Your key is '
        + ESCAPED
        + b'.", "reasoning": "'
        + ESCAPED
        + b'"}}]}'
    )
    async with asking(canned=(plain, escaped)) as it:
        for _ in range(2):
            reply = await it.ask()
            assert KEY not in repr(reply)
            assert reply.text == "Your key is ***."


async def test_a_key_is_not_in_the_failure_of_a_connection() -> None:
    async with asking(Script(faults={"truncated": 1.0})) as it:
        failure = await it.failure()
    assert KEY not in repr(failure) + repr(failure.__context__)
    assert failure.__suppress_context__
    assert failure.__cause__ is None


async def test_the_client_goes_on_after_a_fault() -> None:
    async with asking(canned=(Canned(status=500), completion("fine"))) as it:
        await it.failure()
        assert (await it.ask(settings=Settings(temperature=0.5))).text == "fine"


@pytest.mark.parametrize(
    ("status", "said", "no_room"),
    [
        (429, error("Resource Unavailable", code="resource_unavailable"), True),
        (429, error("429 Resource unavailable: flex capacity is used up."), True),
        (498, error("Flex tier capacity exceeded.", code="capacity_exceeded"), True),
        (429, error("Slow down."), False),
    ],
)
async def test_a_tier_without_room_is_told_from_a_limit_of_calls(
    status: int, said: dict[str, object], no_room: bool
) -> None:
    failure = await failing(Canned(status=status, body=said))
    assert (failure.transient, failure.no_room) == (True, no_room)
