"""llama.cpp inside this process: a loaded model that takes one call at a time. What is untyped of it stays here."""

import http.client
import importlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from evenhand.domain.errors import CallFailure, Misuse
from evenhand.models.local.readout import BATCH

CONTEXT = 8192
"""Tokens of prompt and answer together; a model trained on fewer gets those."""

Fields: TypeAlias = dict[str, Any]


def require_xllamacpp() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise Misuse("Embedded models need llama.cpp, which is not installed: from the clone: pip install '.[local]'")


def xllamacpp_version() -> str:
    return f"xllamacpp {importlib.import_module('xllamacpp').__version__}"


def start_server(weights: Path, *, name: str, threads: int, host: str, port: int, key: str) -> Any:
    """A llama.cpp server. It always listens somewhere: `host` is an IP address or the path of a Unix socket."""
    require_xllamacpp()
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {name}
    params.hostnames, params.port, params.api_keys = [host], port, [key]
    params.ui, params.endpoint_slots, params.verbosity = False, False, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_threads_http, params.n_parallel, params.warmup = 2, 1, False
    params.n_ctx, params.n_batch, params.n_ubatch = CONTEXT, BATCH, BATCH
    # The tiled flash attention rounds by how much of the prompt was cached: log-odds moved by 0.16 with history.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # A GPU rounds in ways that were not measured; who has one runs llama-server and asks it over the wire.
    params.n_gpu_layers, params.fit_params = 0, False
    # By default whole states of past prompts are kept in up to 8 GiB of memory.
    params.cache_ram_mib, params.cache_idle_slots = 0, False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise Misuse(
            f"llama.cpp could not start {name} from {weights}: the file is not a model it can run, memory is short, "
            f"or {host} port {port} is taken."
        ) from error


class Llama:
    """Its socket lies in a folder that only this user can enter, and wants a key that is never written down."""

    def __init__(self, weights: Path, *, name: str, threads: int) -> None:
        self._name = name
        self._key = secrets.token_urlsafe(32)
        folder = _private_folder()
        self._forget = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._socket = str(folder / "llama.sock")
        self._server: Any = start_server(weights, name=name, threads=threads, host=self._socket, port=0, key=self._key)

    def close(self) -> None:
        del self._server
        self._forget()

    def chat(self, body: Mapping[str, Any], stopped: threading.Event) -> list[Fields]:
        """Chunks of a streamed chat completion, the last with usage. `stopped` is looked at between them."""
        return self._stream(self._server.handle_chat_completions, body, stopped)

    def go_on(self, prompt: Sequence[int], body: Mapping[str, Any], stopped: threading.Event) -> list[Fields]:
        """Chunks of a streamed continuation of these very tokens."""
        return self._stream(self._server.handle_completions, {**body, "prompt": list(prompt)}, stopped)

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The prompt by the model's own chat template; a last message of the assistant stays open."""
        return str(self._post("/apply-template", {"messages": list(messages)})["prompt"])

    def tokens(self, text: str, *, control: bool, opening: bool = False) -> list[int]:
        """`control`: names of control tokens in the text become those. `opening`: as at the start of a prompt."""
        body = {"content": text, "add_special": opening, "parse_special": control}
        return [int(token) for token in self._post("/tokenize", body)["tokens"]]

    def plain(self, text: str) -> str:
        """The text such that nothing in it becomes a control token: an answer must not end the turn it stands in."""
        while self.tokens(text, control=True) != self.tokens(text, control=False):
            names = self._control_names(text)
            if not names:
                raise CallFailure(
                    f"{self._name} reads control tokens in the text that cannot be told.", reason="api-error"
                )
            for name in names:
                text = text.replace(name, f"{name[0]}\u200b{name[1:]}")
        return text

    def _control_names(self, text: str) -> set[str]:
        body = {"content": text, "parse_special": True, "with_pieces": True}
        pieces = cast("list[Fields]", self._post("/tokenize", body)["tokens"])
        found = {(piece["id"], piece["piece"]) for piece in pieces if isinstance(piece["piece"], str)}
        return {name for token, name in found if len(name) > 1 and self.tokens(name, control=False) != [token]}

    def _stream(
        self,
        handle: Callable[[Fields, Callable[[Fields], bool]], None],
        body: Mapping[str, Any],
        stopped: threading.Event,
    ) -> list[Fields]:
        chunks: list[Fields] = []

        def take(chunk: Fields) -> bool:
            chunks.append(chunk)
            return stopped.is_set()

        streamed = {**body, "stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        try:
            handle(streamed, take)
        except (RuntimeError, ValueError) as error:
            raise CallFailure(f"{self._name} did not take the request: {error}", reason="api-error") from error
        if stopped.is_set():
            raise CallFailure(f"The call to {self._name} was given up.", reason="interrupted", transient=True)
        for chunk in chunks:
            if "error" in chunk:
                raise self._failure(chunk["error"])
        return chunks

    def _post(self, path: str, body: Mapping[str, Any]) -> Fields:
        connection = _UnixConnection(self._socket)
        try:
            headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
            connection.request("POST", path, json.dumps(body), headers)
            answer: Fields = json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CallFailure(f"{self._name} did not answer {path}: {error}", reason="bad-reply") from error
        finally:
            connection.close()
        if "error" in answer:
            raise self._failure(answer["error"])
        return answer

    def _failure(self, error: Fields) -> CallFailure:
        if error.get("type") == "exceed_context_size_error":
            said = (
                f"The prompt has {error.get('n_prompt_tokens')} tokens and {self._name} reads at most "
                f"{error.get('n_ctx')}: shorten the answers, or ask a model with a longer context."
            )
        else:
            said = f"{self._name} did not take the request: {error.get('message')}"
        return CallFailure(said, reason="api-error", status=error.get("code"))


def _private_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
    # The path of a Unix socket may have 103 bytes on macOS.
    if len(os.fsencode(folder / "llama.sock")) > 103:
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="evenhand-", dir="/tmp"))
    return folder


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=600)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
