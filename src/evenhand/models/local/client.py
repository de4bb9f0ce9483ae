"""Models that run inside this process: `local/smollm2` and any `local/PATH.gguf`. Never touches the network."""

import asyncio
import contextlib
import difflib
import os
import secrets
import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.domain.call import Finish, Message, Offer, Reply, Request, Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.rater import Settings
from evenhand.models.local.llama import Fields, Llama, require_xllamacpp, start_server, xllamacpp_version
from evenhand.models.local.readout import common, fork, keep
from evenhand.models.local.weights import SMOLLM2_SHA256, remembered_sha256, smollm2_path

PREFIX = "local/"
SMOLLM2 = "local/smollm2"

# A tiny model that fell into a loop would else go on until the context is full, for minutes.
_MAX_TOKENS = 1024
_LISTED = 1000
_WHOLE_VOCABULARY = 10_000_000
_OURS = frozenset({"messages", "prompt", "stream", "stream_options", "return_progress", "model", "n", "cache_prompt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalWeights:
    name: str
    """`local/smollm2`, or `local/` and the file's name without its folder: where it lies is no part of who answers."""
    path: Path
    sha256: str
    """The endpoint identity."""


def resolve_local(name: str, *, cache: Path) -> LocalWeights:
    """The weights a `local/…` name means, checked. Raises Misuse with what to do next."""
    require_xllamacpp()
    if name == SMOLLM2:
        return _smollm2(cache)
    if not name.lower().endswith(".gguf"):
        near = difflib.get_close_matches(name.removeprefix(PREFIX), ["smollm2"], cutoff=0.5)
        hint = f" Did you mean {SMOLLM2}?" if near else ""
        raise Misuse(f"There is no embedded model {name}.{hint} Known are {SMOLLM2} and local/PATH.gguf.")
    path = Path(name.removeprefix(PREFIX)).expanduser()
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise Misuse(f"{path} is not a GGUF file: llama.cpp reads that format only.", code="EH-WEIGHTS-DAMAGED")
        return LocalWeights(name=PREFIX + path.name, path=path, sha256=remembered_sha256(path, cache))
    except OSError as error:
        raise Misuse(f"The weights {path} cannot be read: {error.strerror}.", code="EH-WEIGHTS-MISSING") from error


def _smollm2(cache: Path) -> LocalWeights:
    path = smollm2_path(cache)
    if not path.exists():
        raise Misuse(
            f"The weights of {SMOLLM2} are not here yet: evenhand models fetch {SMOLLM2}", code="EH-WEIGHTS-MISSING"
        )
    found = remembered_sha256(path, cache)
    if found != SMOLLM2_SHA256:
        raise Misuse(
            f"The weights in {path} are damaged (SHA-256 {found}, expected {SMOLLM2_SHA256}): "
            f"evenhand models fetch {SMOLLM2}",
            code="EH-WEIGHTS-DAMAGED",
        )
    return LocalWeights(name=SMOLLM2, path=path, sha256=SMOLLM2_SHA256)


def threads_here() -> int:
    """One where there are two cores or fewer: llama.cpp's threads wait for each other by spinning."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 1 if cores <= 2 else min(cores - 1, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    base_url: str
    key: str


@contextlib.contextmanager
def serve_local(weights: LocalWeights, *, port: int = 0, threads: int | None = None) -> Generator[Served]:
    """The model on 127.0.0.1 over the OpenAI wire, behind a key made for this one time; port 0 takes a free one."""
    key = secrets.token_urlsafe(32)
    count = threads or threads_here()
    server = start_server(weights.path, name=weights.name, threads=count, host="127.0.0.1", port=port, key=key)
    try:
        yield Served(base_url=f"{server.listening_address}/v1", key=key)
    finally:
        del server


def check_local(weights: LocalWeights, request: Request) -> None:
    """Raises Misuse where the model cannot do what the request asks."""
    name, settings = weights.name, request.settings
    if request.endpoint != weights.sha256:
        raise Misuse(f"A request for the endpoint {request.endpoint} reached {name} ({weights.sha256}).")
    if request.pictures:
        raise Misuse(
            f"{name} cannot see images: let it judge by captions, or ask a model that sees.", code="EH-MODEL-BLIND"
        )
    if settings.reasoning_effort is not None:
        raise Misuse(f"{name} has no reasoning_effort: leave it out.")
    if request.offer is None and settings.top_logprobs is not None:
        raise Misuse(f"{name} gives log-probabilities with constrained readout only: leave top_logprobs out.")
    if request.offer is not None and settings.extra_body:
        raise Misuse("extra_body has no effect on constrained readout: leave it out.")
    taken = sorted(_OURS.intersection(settings.extra_body or {}))
    if taken:
        raise Misuse(f"extra_body may not set {', '.join(taken)}: Evenhand does.")


class LocalModel:
    """A ModelClient that loads its weights at the first call and answers one call after the other.

    Constrained readout gives the same numbers for the same request whatever was asked before (measured on arm64:
    equal to the last bit, whatever part of the prompt was cached, with one thread or two), and so does generation at
    temperature 0. Other processors may round otherwise; the tests hold them to 1e-3.
    """

    def __init__(self, weights: LocalWeights, *, threads: int | None = None) -> None:
        self._weights = weights
        self._threads = threads or threads_here()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evenhand-local")
        self._llama: Llama | None = None
        self._held: tuple[int, ...] | None = ()
        """The last prompt, which the prefix cache holds; None where that is not sure."""
        self._grown = False
        """Tokens that were generated, one at a time, stand after it."""

    async def complete(self, request: Request) -> Reply:
        check_local(self._weights, request)
        stopped = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, self._answer, request, stopped)
        except asyncio.CancelledError:
            stopped.set()
            raise

    async def close(self) -> None:
        """Waits for the call under way, which ends at its next token or batch if it was cancelled."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)
        if self._llama is not None:
            await asyncio.to_thread(self._llama.close)
            self._llama = None

    def _answer(self, request: Request, stopped: threading.Event) -> Reply:
        if self._llama is None:
            self._llama = Llama(self._weights.path, name=self._weights.name, threads=self._threads)
        began = time.perf_counter()
        messages = [{"role": m.role, "content": self._llama.plain(m.text)} for m in request.messages]
        if request.offer is None:
            reply = self._generate(self._llama, messages, request.settings, stopped)
        else:
            reply = self._read_out(self._llama, messages, request.offer, stopped)
        adapted = _respelt(request.messages, messages)
        seconds = time.perf_counter() - began
        return replace(
            reply, model=self._weights.name, fingerprint=xllamacpp_version(), adapted=adapted, seconds=seconds
        )

    def _generate(
        self, llama: Llama, messages: list[dict[str, str]], settings: Settings, stopped: threading.Event
    ) -> Reply:
        sent: Fields = {"max_tokens": _MAX_TOKENS, **settings.as_json(), **(settings.extra_body or {})}
        sent.pop("extra_body", None)
        prompt = tuple(llama.tokens(llama.render(messages), control=True, opening=True))
        self._prepare(llama, prompt, stopped)
        chunks = llama.chat({**sent, "messages": messages}, stopped)
        usage = _usage(chunks)
        self._held, self._grown = prompt if usage.input == len(prompt) else None, True
        choices = [choice for chunk in chunks for choice in chunk["choices"]]
        text = "".join(choice["delta"].get("content") or "" for choice in choices)
        reasoning = "".join(choice["delta"].get("reasoning_content") or "" for choice in choices)
        finish = _finish([choice["finish_reason"] for choice in choices])
        if not text and finish != "length":
            sentence = f"{self._weights.name} ended its turn without a word."
            raise CallFailure(sentence, reason="empty-reply", usage=usage)
        return Reply(text=text, reasoning=reasoning, finish=finish, usage=usage)

    def _read_out(self, llama: Llama, messages: list[dict[str, str]], offer: Offer, stopped: threading.Event) -> Reply:
        """The probability of each answer's first token: they differ in it, so nothing after it changes the choice."""
        begun = [{"role": "assistant", "content": offer.begin}] if offer.begin else []
        prompt = llama.render([*messages, *begun])
        if not prompt.endswith(offer.begin):
            raise Misuse(
                f"The chat template of {self._weights.name} leaves no turn open to begin with {offer.begin!r}."
            )
        ended = [llama.tokens(prompt + answer, control=True, opening=True) for answer in offer.answers]
        parting = fork(llama.tokens(prompt, control=True, opening=True), ended, answers=offer.answers)
        # The token sampled does not matter, but the end of a turn or half a character would come without probabilities.
        letter = llama.tokens("A", control=False)[-1]
        found: dict[int, float] = {}
        chunks: list[Fields] = []
        for listed in (_LISTED, _WHOLE_VOCABULARY):
            self._prepare(llama, parting.prompt, stopped)
            chunks = llama.go_on(
                parting.prompt, {**_ONE_TOKEN, "n_probs": listed, "logit_bias": [[letter, 1e4]]}, stopped
            )
            self._held, self._grown = parting.prompt, False
            found = _log_probabilities(chunks)
            if found.keys() >= set(parting.ways):
                break
        else:
            raise CallFailure(f"{self._weights.name} did not give all probabilities.", reason="bad-reply")
        offered = tuple(found[way] for way in parting.ways)
        best = offer.answers[offered.index(max(offered))]
        return Reply(text=best, usage=_usage(chunks), offered=offered, forced=True)

    def _prepare(self, llama: Llama, prompt: Sequence[int], stopped: threading.Event) -> None:
        """Leaves no more of the prompt in the prefix cache than `keep` allows, by asking for something else there."""
        held, self._held = self._held, None
        shared = common(prompt, held or ())
        kept = keep(prompt, held or ())
        sure = held is not None and (shared < len(held) or not self._grown)
        if sure and kept == shared:
            return
        other = prompt[kept] - 1 if prompt[kept] else 1
        llama.go_on((*prompt[:kept], other, other), {**_ONE_TOKEN, "cache_prompt": held is not None}, stopped)


_ONE_TOKEN = {"max_tokens": 1, "temperature": 0, "cache_prompt": True}


def _log_probabilities(chunks: Sequence[Fields]) -> dict[int, float]:
    """By token, of the whole vocabulary and before any sampling setting, as far as they were listed."""
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["logprobs"]:
                listed: list[Fields] = choice["logprobs"]["content"][0]["top_logprobs"]
                return {entry["id"]: entry["logprob"] for entry in listed}
    return {}


def _finish(reasons: Sequence[Any]) -> Finish:
    last = next((reason for reason in reversed(reasons) if reason), None)
    return last if last in ("stop", "length") else "other"


def _usage(chunks: Sequence[Fields]) -> Usage:
    said: Fields = next(chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage"))
    return Usage(
        input=said["prompt_tokens"],
        output=said["completion_tokens"],
        cached=said["prompt_tokens_details"]["cached_tokens"],
    )


def _respelt(asked: Sequence[Message], sent: Sequence[dict[str, str]]) -> tuple[str, ...]:
    changed = sum(1 for message, body in zip(asked, sent, strict=True) if message.text != body["content"])
    if not changed:
        return ()
    return (
        "Names of the model's control tokens in the text were sent with a zero-width space in them, as plain text.",
    )
