"""A real HTTP server on loopback that speaks the OpenAI chat-completions wire from a script: judges, faults, counts.

In a test: `async with ScriptedServer(Script(judge="prefers-longer")) as server: ... server.base_url`.
As a process: `python -m tests.scripted_server --fault 429=0.3 --fault 500=0.1`, which prints its base URL, then serves
until it is terminated or its stdin closes; `GET /_stats` tells what it has seen, `/_hold` keeps answers back and `/_go`
gives them; `/_hold?after=40` answers the first forty requests and keeps all others back. `server_process` starts one.
"""

import argparse
import asyncio
import hashlib
import math
import os
import re
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias, get_args

import orjson
from aiohttp import web

from tests import warm
from tests.prefix_cache import PrefixCache

Shape: TypeAlias = Literal["openai", "anthropic", "vllm"]
Fault: TypeAlias = Literal[
    "429", "429-retry-after", "500", "garbage", "html", "truncated", "empty", "null", "error-200", "no-choices",
    "hang", "cut", "refusal", "length",
]  # fmt: skip
Reports: TypeAlias = Literal["truth", "zero", "no-output", "huge"]
Body: TypeAlias = dict[str, Any]
Judge: TypeAlias = Callable[[Body], str]
"""Writes the whole reply to a request."""

FAULTS: tuple[Fault, ...] = get_args(Fault)
UNBILLED = ("429", "429-retry-after", "500", "error-200")
# OpenAI's reasoning models take neither max_tokens nor a temperature.
_REASONING = re.compile(r"o\d|gpt-5")
_CANDIDATES = re.compile(
    r"Response A:\s*(.*?)\n\s*Response B:\s*(.*?)(?:\n\n(?:Think step-by-step|Do not write)|\Z)", re.DOTALL
)
_CREATION = re.compile(r"\[ASSISTANT ([AB])\]\n(.*?)\n\[END ASSISTANT \1\]", re.DOTALL)
_PAIRWISE = re.compile(r"\[Response ([AB])\]\n(.*?)\n\[End of Response \1\]", re.DOTALL)
_GRADED = re.compile(
    r"\[Criteria\]\n(.*?)\n\[End of the criteria\].*\[Answer\]\n(.*)\n\[End of the answer\]", re.DOTALL
)
_SCALE = re.compile(r"whole number from (\d+) .*? to (\d+) ")
_CODE = re.compile(r"\bthe code ([B-Z2-9]{8}) and a colon")
_DOOMED = re.compile(r"Bearer killed-at-(\d+)-process-(\d+)")
_OPTIONS = re.compile(r"^Option \d+\n(.*?)(?=\n\nOption \d+\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Script:
    """What the server does. Equal scripts answer equal requests alike, in any order."""

    shape: Shape = "openai"
    judge: str | Judge = "by-quality"
    """`by-quality`, `by-strength`, `prefers-longer`, `always-first`, `hesitant`, `says WORDS`, or a function. For
    options `picks-first`, `picks-longest`, `picks-at-random`, and `picks-graded`, which grades them first.
    `quotes JUDGE` and `closes JUDGE` say what JUDGE says."""
    faults: Mapping[Fault, float] = field(default_factory=dict[Fault, float])
    """The share of answers that are this fault, drawn by seed, body and the body's attempt."""
    seed: int = 0
    latency: float = 0.0
    stalls: Mapping[int, float] = field(default_factory=dict[int, float])
    """Seconds that the answer to the first request, the second and so on takes longer."""
    held: bool = False
    """Answer nothing before `GET /_go`; `GET /_hold` begins that again."""
    held_from: int = 0
    """From this request on answer nothing before `GET /_go`; 0: from none."""
    retry_after: float = 0.01
    key: str | None = None
    """Where set, any other is refused, and repeated in the refusal."""
    models: frozenset[str] = frozenset()
    """Where given, any other is not found."""
    reasoning: str = ""
    overlong: int = 0
    """So many tokens are written, and billed, whatever the request allows; 0: as many as the judge has words."""
    per_character: float = 0.25
    """Tokens that are billed for a character of a request's words."""
    per_image: int = 0
    """Tokens that are billed for an image."""
    reports: Reports = "truth"
    """What a reply says it used, whatever is billed."""
    bills: bool = False
    """Count the tokens of every request that a model works on, whether or not its reply is heard; for named judges."""
    cache_blocks: int = 0
    """Blocks of 128 tokens that a cache of prompts' beginnings holds; 0: there is no cache."""
    fingerprint: str = "fp_scripted"
    """What an OpenAI endpoint calls the system that answers."""
    keep: bool = True
    """Keep each request; off for benchmarks."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    digest: str
    attempt: int
    """How many times this very body had come before."""
    at: float
    headers: Mapping[str, str]
    """Without the key."""
    raw: bytes

    @property
    def body(self) -> Body:
        return orjson.loads(self.raw)


@dataclass(frozen=True, kw_only=True)
class Canned:
    """An answer given once, whatever is asked."""

    status: int = 200
    body: bytes | Body | list[Body] = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class ScriptedServer:
    def __init__(self, script: Script | None = None, *, port: int = 0) -> None:
        self.script = script or Script()
        self.requests: list[Seen] = []
        self.attempts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        """Good answers to each body: a second one was paid for in vain."""
        self.outcomes: Counter[str] = Counter()
        self.billed: Counter[str] = Counter()
        """Tokens `input` and `output`."""
        self.in_flight = 0
        self.peak = 0
        self.busiest = 0
        """Requests in the second that had most of them."""
        self._of_late: deque[float] = deque()
        self._first_at = self._last_at = 0.0
        self._port = port
        self._canned: deque[Canned] = deque()
        self._judge = judge_named(self.script.judge, self.script.seed)
        self._closing = asyncio.Event()
        self._going = asyncio.Event()
        self._came_with: Counter[str] = Counter()
        self._held_after = self.script.held_from - 1 if self.script.held_from else None
        """So many requests are answered, of all that came."""
        if not self.script.held:
            self._going.set()
        self._cache = PrefixCache(self.script.cache_blocks)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def then(self, *answers: Canned) -> Self:
        """Gives these answers first."""
        self._canned.extend(answers)
        return self

    def go(self) -> None:
        """Gives the answers that were kept back, and keeps none back any more."""
        self._held_after = None
        self._going.set()

    def stats(self) -> dict[str, Any]:
        total = self.attempts.total()
        return {
            "requests": total,
            "distinct": len(self.attempts),
            "repeats": total - len(self.attempts),
            "answered": self.answered.total(),
            "answered_again": self.answered.total() - len(self.answered),
            "outcomes": dict(self.outcomes),
            "billed": dict(self.billed),
            "in_flight": self.in_flight,
            "peak": self.peak,
            "busiest": self.busiest,
            "span": self._last_at - self._first_at,
        }

    def _note_time(self) -> None:
        now = self._last_at = time.monotonic()
        self._first_at = self._first_at or now
        self._of_late.append(now)
        while self._of_late[0] <= now - 1.0:
            self._of_late.popleft()
        self.busiest = max(self.busiest, len(self._of_late))

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._handle), shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST" and request.path == "/v1/chat/completions":
            return await self._chat(request)
        if request.path in ("/_go", "/_hold"):
            self._hold_or_go(request)
            return _json({})
        if request.path == "/_stats":
            return _json(self.stats())
        if request.path == "/v1/models":
            data = [{"id": name, "object": "model"} for name in sorted(self.script.models or {"scripted"})]
            return _json({"object": "list", "data": data})
        return web.Response(
            status=404, text="<!DOCTYPE html><html><body>Not found</body></html>", content_type="text/html"
        )

    def _hold_or_go(self, request: web.BaseRequest) -> None:
        if request.path == "/_go":
            self.go()
            return
        after = request.query.get("after")
        self.hold(None if after is None else int(after))

    def hold(self, after: int | None = None) -> None:
        """Keeps all answers back; `after`: but those to the first so many requests of all that came."""
        self._held_after = after
        held = self._held_after is None or self.attempts.total() > self._held_after
        (self._going.clear if held else self._going.set)()

    async def _chat(self, request: web.BaseRequest) -> web.StreamResponse:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self._note_time()
        try:
            raw = await request.content.read()
            digest = hashlib.sha256(raw).hexdigest()
            attempt = self.attempts[digest]
            self.attempts[digest] += 1
            if self._held_after is not None and self.attempts.total() > self._held_after:
                self._going.clear()
            cached = self._cache.found(raw)
            stall = self.script.stalls.get(self.attempts.total(), 0.0)
            if self.script.keep:
                headers = {name: value for name, value in request.headers.items() if name != "Authorization"}
                self.requests.append(Seen(digest=digest, attempt=attempt, at=time.time(), headers=headers, raw=raw))
            if self.script.bills and self._fault(digest, attempt) not in UNBILLED:
                # As it comes: whoever hangs up before the reply is written pays for it too.
                asked = orjson.loads(raw)
                sent, said = self._used(asked, self._completion(asked, None)["choices"][0]["message"]["content"])
                self.billed.update(input=sent, output=said)
            self._kill_who_asks(request)
            await self._going.wait()
            if self.script.latency or stall:
                await asyncio.sleep(self.script.latency + stall)
            if self._canned:
                canned = self._canned.popleft()
                content = canned.body if isinstance(canned.body, bytes) else orjson.dumps(canned.body)
                return web.Response(status=canned.status, body=content, headers=canned.headers)
            fault = self._fault(digest, attempt)
            if fault is None:
                self.answered[digest] += 1
            self._cache.keep(raw)
            return await self._answer(request, raw, fault, cached)
        finally:
            self.in_flight -= 1

    def _kill_who_asks(self, request: web.BaseRequest) -> None:
        """Where their key says so, see `doomed`: the call is under way then, however busy the machine is."""
        found = _DOOMED.fullmatch(request.headers.get("Authorization", ""))
        if found is None:
            return
        self._came_with[found[0]] += 1
        if self._came_with[found[0]] == int(found[1]):
            with suppress(ProcessLookupError):
                os.kill(int(found[2]), signal.SIGKILL)

    def _fault(self, digest: str, attempt: int) -> Fault | None:
        if not self.script.faults:
            return None
        left = _draw(self.script.seed, digest, str(attempt))
        for fault, share in self.script.faults.items():
            left -= share
            if left < 0:
                return fault
        return None

    async def _answer(
        self, request: web.BaseRequest, raw: bytes, fault: Fault | None, cached: int
    ) -> web.StreamResponse:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.script.key is not None and key != self.script.key:
            return self._error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")
        if fault is not None and fault not in ("empty", "null", "refusal", "length"):
            self.outcomes[fault] += 1
            return await self._failed(request, fault)
        body: Body = orjson.loads(raw)
        refused = self._refused_setting(body)
        if refused is not None:
            return refused
        self.outcomes[fault or "answered"] += 1
        return _json(self._completion(body, fault, cached))

    async def _failed(self, request: web.BaseRequest, fault: Fault) -> web.StreamResponse:
        match fault:
            case "429":
                return self._error(429, "Rate limit reached.", code="rate_limit_exceeded")
            case "429-retry-after":
                wait = {"Retry-After": f"{self.script.retry_after:g}"}
                return self._error(429, "Rate limit reached.", code="rate_limit_exceeded", **wait)
            case "500":
                return self._error(500, "The server had an error.", code="server_error")
            case "garbage":
                return web.Response(
                    body=b'{"choices": [{"message": {"content": "Overa\xff', content_type="application/json"
                )
            case "html":
                return web.Response(text="<!DOCTYPE html><html><body>Welcome</body></html>", content_type="text/html")
            case "error-200":
                return _json({"error": {"message": "Upstream is busy.", "code": 429}})
            case "no-choices":
                return _json({"object": "chat.completion", "choices": []})
            case "truncated":
                return await self._truncated(request)
            case "cut":
                if request.transport is not None:
                    request.transport.close()
                return web.Response(status=503)
            case _:
                await self._closing.wait()
                return web.Response(status=503)

    async def _truncated(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
        with suppress(ConnectionResetError):
            await response.prepare(request)
            await response.write(b'{"choices": [')
        if request.transport is not None:
            request.transport.close()
        return response

    def _refused_setting(self, body: Body) -> web.Response | None:
        model, shape = str(body.get("model")), self.script.shape
        if self.script.models and model not in self.script.models:
            return self._error(404, f"The model `{model}` does not exist.", code="model_not_found")
        if shape == "openai" and _REASONING.match(model):
            if "max_tokens" in body:
                message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
                return self._error(400, message, code="unsupported_parameter", param="max_tokens")
            if body.get("temperature", 1) != 1:
                message = "Unsupported value: 'temperature' does not support 0. Only the default (1) is supported."
                return self._error(400, message, code="unsupported_value", param="temperature")
        if shape == "vllm" and body.get("continue_final_message") and body.get("add_generation_prompt", True):
            return self._error(400, "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
        return None

    def _error(self, status: int, message: str, *, code: str = "", param: str = "", **headers: str) -> web.Response:
        if status not in (429, 500):
            self.outcomes[str(status)] += 1
        kind = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 500: "api_error"}
        match self.script.shape:
            case "openai":
                error = {"message": message, "type": "invalid_request_error", "param": param or None, "code": code}
                document: Body = {"error": error}
            case "anthropic":
                error = {"type": kind.get(status, "invalid_request_error"), "message": message}
                document = {"type": "error", "error": error, "request_id": "req_1"}
            case "vllm":
                document = {"object": "error", "message": message, "type": "BadRequestError", "code": status}
        return _json(document, status=status, headers=headers)

    def _completion(self, body: Body, fault: Fault | None, cached: int = 0) -> Body:
        wants = bool(body.get("logprobs")) and self.script.shape != "anthropic"
        text = self._judge(body)
        tokens = _tokens(text, body) if wants else []
        if wants:
            text = "".join(tokens)
        message: Body = {"role": "assistant", "content": text}
        finish = "length" if wants and len(tokens) == _limit(body) else "stop"
        if self.script.reasoning:
            message["reasoning_content"] = self.script.reasoning
        if fault in ("empty", "null"):
            message["content"] = "" if fault == "empty" else None
        elif fault == "refusal":
            message |= {"content": None, "refusal": "I can't help with that."}
        elif fault == "length":
            message["content"], finish = text[: len(text) // 2], "length"
        choice: Body = {"index": 0, "message": message, "finish_reason": finish}
        if wants:
            sure = _sureness(self.script.seed, body) if self.script.judge == "softly" else _SURE
            choice["logprobs"] = {"content": [_alternatives(token, sure) for token in tokens]}
        sent, said = self._reported(*self._used(body, text))
        usage: Body = {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}
        if self.script.shape == "openai":
            usage |= {
                "prompt_tokens_details": {"cached_tokens": min(cached, sent)},
                "completion_tokens_details": {"reasoning_tokens": 0},
            }
        return {
            "object": "chat.completion",
            "model": body["model"],
            "system_fingerprint": self.script.fingerprint if self.script.shape == "openai" else None,
            "choices": [choice],
            "usage": usage,
            **({"service_tier": body["service_tier"]} if "service_tier" in body else {}),
        }

    def _used(self, body: Body, text: str) -> tuple[int, int]:
        """Tokens in and out, as they are billed."""
        script = self.script
        characters = sum(len(_text(message)) for message in body["messages"])
        images = sum(part.get("type") == "image_url" for message in body["messages"] for part in _parts(message))
        sent = int(characters * script.per_character) + script.per_image * images + 1
        return sent, script.overlong or len(text) // 4 + 1

    def _reported(self, sent: int, said: int) -> tuple[int, int]:
        match self.script.reports:
            case "zero":
                return 0, 0
            case "no-output":
                return sent, 0
            case "huge":
                return 10**18, 10**18
            case "truth":
                return sent, said


def judge_named(judge: str | Judge, seed: int = 0) -> Judge:
    if callable(judge):
        return judge
    if judge.startswith("says "):
        return lambda _: judge.removeprefix("says ")
    if judge.startswith("picks-"):
        return _option_judge(judge, seed)
    if judge.startswith("quotes "):
        return _quoting(judge_named(judge.removeprefix("quotes "), seed))
    if judge.startswith("closes "):
        return _closing(judge_named(judge.removeprefix("closes "), seed))
    rules: dict[str, Callable[[str, str], bool]] = {
        "always-first": lambda first, second: True,
        "prefers-longer": lambda first, second: len(first) >= len(second),
        # A quality of its own for each text, so that the order shown changes nothing.
        "by-quality": lambda first, second: _draw(seed, first) >= _draw(seed, second),
        # As by quality, but half of its replies must be read by an extractor, and half of those hold no decision.
        "hesitant": lambda first, second: _draw(seed, first) >= _draw(seed, second),
        # Answers say how strong they are; beside that each text and each showing has its luck, and the first gains.
        "by-strength": lambda first, second: _lead(seed, first, second) >= 0,
        # As by strength, and as sure as it leads.
        "softly": lambda first, second: _lead(seed, first, second) >= 0,
    }
    prefers_first = rules[judge]

    def verdict(body: Body) -> str:
        users = [_text(message) for message in body["messages"] if message["role"] == "user"]
        if users and users[-1].endswith("Please extract the final answer from the above text."):
            return _extracted(users[-1])
        if users and (blocks := dict(_CREATION.findall(users[-1]))):
            return _of_creation(users[-1], first_is_better=prefers_first(blocks["A"], blocks["B"]))
        if users and (blocks := dict(_PAIRWISE.findall(users[-1]))):
            better, worse = ("A", "B") if prefers_first(blocks["A"], blocks["B"]) else ("B", "A")
            code = _CODE.search(users[-1])
            assert code is not None
            return f"Response {worse} leaves part of the request open.\n\n{code[1]}: [[{better}>{worse}]]"
        if users and (graded := _GRADED.search(users[-1])):
            return _of_rubric(graded, users[-1], draws=None if judge == "prefers-longer" else seed)
        found = _CANDIDATES.search(users[-1]) if users else None
        first, second = found.groups() if found else ("", "")
        better, worse = ("A", "B") if prefers_first(first, second) else ("B", "A")
        if judge == "hesitant" and (lot := _draw(seed, "hesitates", first, second)) < 0.5:
            leaning = f"I would say that Response {better} is slightly better." if lot < 0.25 else "I cannot choose."
            return f"Neither is fully right: {first[:40]!r} and {second[:40]!r} leave much open. {leaning}"
        if users and users[-1].rstrip().endswith("or [[B>>A]]."):
            return f"Response {worse} leaves part of the question open. [[{better}>{worse}]]"
        return (
            "Step 1: I look at what the instruction asks for and what the image context says.\n"
            f"Step 2: Response {worse} leaves part of the question open.\n"
            f"Step 3: Response {better} is accurate, specific and fluent.\n\n"
            f"Overall, Response {better} is better."
        )

    return verdict


_STRENGTH = re.compile(r"strength=(-?[0-9.]+)")


def _lead(seed: int, first: str, second: str) -> float:
    """Log-odds of the first, with the luck of this showing."""
    one, other = (float(found[1]) if (found := _STRENGTH.search(text)) else 0.0 for text in (first, second))
    luck = _draw(seed, "showing", first, second)
    taste = 3 * (_draw(seed, first) - _draw(seed, second))
    return one - other + taste + 0.4 + math.log((luck + 1e-12) / (1 - luck + 1e-12))


def _quoting(judge: Judge) -> Judge:
    """Says again all it was asked before it says what the judge says."""

    def verdict(body: Body) -> str:
        asked = "\n".join(_text(message) for message in body["messages"])
        return f"I was asked:\n{asked}\n\n{judge(body)}"

    return verdict


def _closing(judge: Judge) -> Judge:
    """Writes the code that it was told before each line of what the judge says."""

    def verdict(body: Body) -> str:
        told = _CODE.search(_text(body["messages"][-1]))
        code = f"{told[1]}: " if told else ""
        return "\n".join(f"{code}{line}" for line in judge(body).split("\n"))

    return verdict


def _of_creation(prompt: str, *, first_is_better: bool) -> str:
    """A verdict, or two scores, in the words that Creation-MMBench's prompts ask for."""
    if "[VISUAL FACTUALITY CRITERIA]" not in prompt:
        return f"Final Verdict is: [[{'A>B' if first_is_better else 'B>A'}]]"
    scores = (8, 6) if first_is_better else (6, 8)
    return "\n".join(
        f"Response {name} Visual Factuality Score: {score}/10" for name, score in zip("AB", scores, strict=True)
    )


def _of_rubric(graded: re.Match[str], prompt: str, *, draws: int | None) -> str:
    """A line for each criterion: the answer's words, less one for each criterion before, as far as the scale goes."""
    scale, code = _SCALE.search(prompt), _CODE.search(prompt)
    assert scale is not None
    assert code is not None
    low, high = map(int, scale.groups())
    names = [line.removeprefix("- ").partition(": ")[0] for line in graded[1].split("\n")]
    lines: list[str] = []
    for place, name in enumerate(names):
        grade = min(high, max(low, len(graded[2].split()) - place))
        if draws is not None:
            grade = low + int(_draw(draws, name, graded[2]) * (high - low + 1))
        lines.append(f"{code[1]}: {name}: {grade}")
    return "It could say more.\n\n" + "\n".join(lines)


def _option_judge(judge: str, seed: int) -> Judge:
    """Picks one of the numbered options: by place, by content, or by lots that hang on the whole body."""

    def pick(body: Body) -> str:
        text = _text(body["messages"][-1] if body["messages"][-1]["role"] == "user" else body["messages"][-2])
        options = _OPTIONS.findall(re.split("\n\nGive your selection alone|\n\nClose your reply", text)[0])
        places = range(len(options))
        if judge == "picks-longest":
            chosen = max(places, key=lambda place: (len(options[place]), options[place]))
        elif judge == "picks-at-random":
            chosen = int(_draw(seed, orjson.dumps(body).decode()) * len(options))
        elif judge == "picks-graded":
            return _graded(options, seed)
        else:
            chosen = 0
        # What the options say of options is no selection.
        return f"Evaluation: Option {len(options)} says a lot.\n\nSelection: Option {chosen + 1}"

    return pick


def _graded(options: list[str], seed: int) -> str:
    """Grades each option by what it says, and selects the highest graded, but in every fifth order or so the lowest."""
    grades = [int(6 * _draw(seed, "grade", one)) for one in options]
    takes = min if _draw(seed, "wavers", *options) < 0.2 else max
    chosen = takes(range(len(options)), key=lambda place: (grades[place], options[place]))
    lines = "\n".join(f"Option {place}: {grade}" for place, grade in enumerate(grades, start=1))
    return f"Grading:\n{lines}\n\nSelection: Option {chosen + 1}\nExplanation: as graded."


def _extracted(judgement: str) -> str:
    found = re.search(r"I would say that Response (A|B) is slightly better", judgement)
    return f"Final Answer: Response {found[1]} is slightly better" if found else "Final Answer: Unknown."


def _text(message: Body) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _parts(message: Body) -> list[Body]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _limit(body: Body) -> int:
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or 1000)


def _tokens(text: str, body: Body) -> list[str]:
    """The closing sentence alone, token by token; what a begun turn already says is not said again."""
    sentence = text.rpartition("\n")[2]
    last = body["messages"][-1]
    if last["role"] == "assistant" and (body.get("continue_final_message") or "continue_final_message" not in body):
        sentence = sentence.removeprefix(_text(last))
    return re.findall(r"\s*\w+|\W", sentence)[: _limit(body)]


_SURE = 0.9375
"""What of the probability on the two answers is on the one given."""


def _sureness(seed: int, body: Body) -> float:
    found = _CANDIDATES.search(next(_text(one) for one in reversed(body["messages"]) if one["role"] == "user"))
    lead = _lead(seed, *found.groups()) if found else 0.0
    return 1 / (1 + math.exp(-0.4 * abs(lead)))


def _alternatives(token: str, sure: float = _SURE) -> Body:
    """A token drawn with probability 0.8, among others as real lists hold them."""
    listed = [(token, 0.8)]
    if token.strip() in ("A", "B"):
        other = "B" if token.strip() == "A" else "A"
        given, rest = 0.96 * sure, 0.96 * (1 - sure)
        listed = [(token, given - 0.1), (token.strip(), 0.1), (f" {other}", rest), (" The", 0.02)]
    entries = [{"token": name, "logprob": math.log(share), "bytes": list(name.encode())} for name, share in listed]
    return {**entries[0], "top_logprobs": entries}


def _draw(seed: int, *names: str) -> float:
    """A number in [0, 1) that depends on nothing else."""
    digest = hashlib.sha256("\0".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def _json(document: Body, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(document), content_type="application/json", headers=headers)


@contextmanager
def server_process(*arguments: str) -> Generator[str]:
    """The base URL of a server in its own process, which outlives a client killed beside it."""
    with warm.heard("tests.scripted_server:main", *arguments) as base_url:
        yield base_url


def doomed(at: int) -> dict[str, str]:
    """Variables of a command (of `warm`) that a scripted server kills at its request of this number."""
    return {"OPENAI_API_KEY": f"killed-at-{at}-process-$$"}


async def _serve(script: Script, port: int) -> None:
    async with ScriptedServer(script, port=port) as server:
        print(server.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


def _share(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    if name not in FAULTS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(FAULTS)}")
    return name, float(share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--shape", choices=get_args(Shape), default="openai")
    parser.add_argument("--judge", default="by-quality")
    parser.add_argument("--fault", type=_share, action="append", default=[], metavar="KIND=SHARE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--held", action="store_true", help="answer nothing before GET /_go")
    parser.add_argument("--held-from", type=int, default=0, help="the first request that is kept back until GET /_go")
    parser.add_argument("--retry-after", type=float, default=0.01)
    parser.add_argument("--overlong", type=int, default=0, help="tokens written, whatever the request allows")
    parser.add_argument("--per-character", type=float, default=0.25, help="tokens billed for a character")
    parser.add_argument("--per-image", type=int, default=0, help="tokens billed for an image")
    parser.add_argument("--reports", choices=get_args(Reports), default="truth", help="what a reply says it used")
    parser.add_argument("--bills", action="store_true", help="count the tokens of all that a model works on")
    parser.add_argument("--key")
    chosen = vars(parser.parse_args())
    port: int = chosen.pop("port")
    faults: dict[Fault, float] = dict(chosen.pop("fault"))
    asyncio.run(_serve(Script(**chosen, faults=faults, keep=False), port))


if __name__ == "__main__":
    main()
