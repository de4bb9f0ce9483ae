"""A served ledger on loopback and visitors to it: real HTTP, a real SQLite file."""

import re
import socket
import ssl
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from html import unescape
from typing import TextIO, TypeVar

import httpx2 as httpx
from fastapi import APIRouter, FastAPI

from evenhand.domain.call import Message, Reply, Request
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.site.accounts.store import Invite, Role, invite, join
from evenhand.site.http.audit_log import events
from evenhand.site.http.settings import Site, VisitorLimits, site_at
from evenhand.site.http.visitor import Visitor, session_cookie
from evenhand.site.serving import server_config
from tests.hosting import hosting_site
from tests.refusals import tells
from tests.site.described import as_described

T = TypeVar("T")
SECONDS = 300
"""In which anything comes that is waited for, on however busy a machine."""
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing here is encrypted: without the certificates of the whole world, which take long to read."""
SCRIPT = "<script>alert('x')</script>"
SECRETS = ("caption-9f1c", "reference-9f1c", "truth-9f1c", "criterion-9f1c")
"""Words that stand in the withheld part, and that the judge quotes."""

MODELS = ("amber", f"blue {SCRIPT}", "=cmd()", REFERENCE)
# A red dot.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    url: str
    ledger: Ledger
    site: Site
    leaving: ExitStack
    """Closes the visitors when the house does."""

    def visitor(self, **headers: str) -> httpx.Client:
        client = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=SECONDS,
            trust_env=False,
            verify=PLAIN,
            event_hooks={"response": [as_described]},
        )
        return self.leaving.enter_context(client)

    def link(self, role: Role, *, uses: int = 1, lasts: float = 3600.0) -> str:
        """The path of an invitation."""
        return f"/join/{invite(self.ledger, Invite(role=role, uses=uses, lasts=lasts)).token}"

    def signed_in(self, role: Role, name: str = "Ada") -> httpx.Client:
        """As somebody is who came in some time ago: `come_in` asks for the page and sends its form."""
        joined = join(self.ledger, self.link(role).removeprefix("/join/"), name)
        visitor = self.visitor()
        visitor.cookies.set(session_cookie(self.site), joined.key.token, domain="127.0.0.1")
        return visitor

    def logged(self) -> list[str]:
        return [event.what for event in events(self.ledger, most=1000)]


def until(look: Callable[[], T | None], what: str) -> T:
    """What is found when there is something; `what` is waited for, as the end of a sentence."""
    ends = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < ends, f"after {SECONDS} s there is still not {what}"
        time.sleep(0.02)
    return found


def standing_still() -> float:
    """A clock for limits: nothing that was used up comes back, however long a test is held up."""
    return 0.0


def come_in(visitor: httpx.Client, link: str, name: str = "Ada") -> httpx.Response:
    return visitor.post(link, data={"csrf": form_token(visitor.get(link)), "name": name})


def own_token(signed_in: httpx.Client) -> str:
    """What all forms of theirs carry, where none of a page is the claim."""
    return Visitor(address="", secret=signed_in.cookies["evenhand"]).form_token()


def form_token(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', page.text)
    assert found, page.text
    return found[1]


def refusal_of(answer: httpx.Response, *facts: object) -> tuple[int, str]:
    """Status and code of what was refused, on a page or by the API; its sentence tells the facts."""
    if answer.headers["content-type"].startswith("application/json"):
        document = answer.json()
        code, sentence = document["code"], document["error"]
    else:
        found = re.search(r'data-code="([A-Z-]+)">([^<]*)', answer.text)
        assert found, answer.text
        code, sentence = found[1], unescape(found[2])
    tells(sentence, *facts)
    return answer.status_code, code


def links(page: httpx.Response, start: str) -> list[str]:
    return [unescape(one) for one in re.findall(rf'href="({re.escape(start)}[^"]*)"', page.text)]


@contextmanager
def served(
    ledger: Ledger,
    *,
    limits: VisitorLimits | None = None,
    public_url: str | None = None,
    more: APIRouter | None = None,
    log: TextIO | None = None,
) -> Generator[House]:
    """In a thread of its own; `more` are pages beside ours.

    With a public URL it is still reached on loopback, as a proxy on this machine does.
    """
    with closing(socket.create_server(("127.0.0.1", 0))) as bound:
        port = int(bound.getsockname()[1])
        site = site_at("127.0.0.1", port, public_url=public_url, limits=limits or GENEROUS)
        config = server_config(ledger, site, host="127.0.0.1", port=port, log=log)
        config.timeout_keep_alive = SECONDS  # else a test that is held up finds its connection closed as it asks
        if more is not None:
            assert isinstance(config.app, FastAPI)
            config.app.include_router(more)
        with hosting_site(config, bound), ExitStack() as leaving:
            yield House(url=f"http://127.0.0.1:{port}", ledger=ledger, site=site, leaving=leaving)


GENEROUS = VisitorLimits(
    seconds=SECONDS,
    requests_per_second=10_000,
    burst=10_000,
    guesses_per_minute=10_000,
    uploads_per_minute=10_000,
    passing_per_second=10_000,
    passing_burst=10_000,
    under_way=10_000,
    patience=SECONDS,
    moment=SECONDS,
    long=SECONDS,
    glance=SECONDS,
)
"""So that only the tests about limits meet one."""


def items(pictures: Sequence[str] = ()) -> tuple[Item, ...]:
    caption, reference, truth, criterion = SECRETS
    return tuple(
        Item(
            label=f"item {n}",
            instruction=f"What is {n}? {SCRIPT}",
            images=tuple(pictures),
            caption=f"{caption} {n}",
            reference=f"{reference} {n}",
            ground_truth=truth,
            criteria=(("subjective", criterion),),
            category="even" if n % 2 == 0 else "odd",
        )
        for n in range(1, 7)
    )


JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai")
CONDITION = Condition(protocol="pairwise", prompt_hash="ab" * 32)


def fill(ledger: Ledger, *, sample: bool = False, rater: Rater = JUDGE, undecided: int = 0, upset: bool = False) -> str:
    """A benchmark on which each model beats all that come after it, in both orders; returns the digest of its data.

    `undecided`: the last so many trials got a reply without a decision. `upset`: on two items all is reversed.
    """
    benchmark = numbers(ledger, sample=sample)
    of_benchmark = benchmark.items
    ledger.register_benchmark(benchmark)
    answers = [
        Response(item=item.digest, model=model, text=_answer(model, item, words=(number * (place + 2)) % 5))
        for number, item in enumerate(of_benchmark)
        for place, model in enumerate(MODELS)
    ]
    ledger.add_responses(answers)
    judge(ledger, benchmark, answers, rater=rater, undecided=undecided, upset=upset)
    return benchmark.digest


def numbers(ledger: Ledger, *, sample: bool = False) -> Benchmark:
    of_benchmark = items([ledger.images.put(PNG).digest])
    return Benchmark(name="numbers", items=of_benchmark, licence="CC0-1.0", citation="", protocols=(), sample=sample)


def _answer(model: str, item: Item, *, words: int) -> str:
    """So many words longer than it need be."""
    if model == REFERENCE:
        assert item.reference is not None
        return item.reference
    return f"{model} says {SCRIPT} half \ud83d a pair {item.label}{' more' * words}"


def judge(
    ledger: Ledger,
    benchmark: Benchmark,
    answers: Sequence[Response],
    *,
    rater: Rater = JUDGE,
    undecided: int = 0,
    upset: bool = False,
    models: Sequence[str] = MODELS,
    condition: Condition = CONDITION,
) -> None:
    """Each of the models beats all that come after it."""
    study = Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(item.digest for item in benchmark.items),
        models=tuple(models),
        rater=rater.key,
        condition=condition.key,
        purpose="people" if rater.kind == "human" else "board",
    )
    given: dict[str, dict[str, str]] = {}
    for answer in answers:
        given.setdefault(answer.item, {})[answer.model] = answer.digest
    trials = list(wanted(study, given))
    ledger.register_study(study, rater=rater, condition=condition, wanted=len(trials))
    model_of = {answer.digest: answer.model for answer in answers}
    entries = Entries(study=study.key, trials=trials)
    for number, trial in enumerate(trials):
        first, second = (models.index(model_of[digest]) for digest in trial.responses)
        decided = number < len(trials) - undecided
        calls: tuple[str, ...] = ()
        if rater.kind == "model":
            request = Request(
                endpoint="openai", model="judge", messages=(Message(role="user", parts=(f"{number}? {trial.key}",)),),
                settings=rater.settings,
            )  # fmt: skip
            words = f"I quote {' '.join(SECRETS)} {SCRIPT}"
            entries.add_call(request, Reply(text=words), run="run", at=float(number), cost_usd=None)
            calls = (request.key,)
        reversed_here = upset and trial.item in study.items[:2]
        verdict = Preference(value=1 if (first < second) is not reversed_here else -1, levels=3)
        judgement = Judgement(
            trial=trial.key, verdict=verdict, reader="r1", calls=calls, run="run", at=1_700_000_000.0 + number
        )
        entries.judgements.append(judgement if decided else replace(judgement, verdict=NoVerdict(reason="unreadable")))
    ledger.commit(entries)


def fill_with_lengths(ledger: Ledger) -> str:
    """Forty items with answers of unlike length, so that what length is worth can be told; the digest of the data."""
    items = tuple(Item(label=f"i{n}", instruction=f"{n}?", reference="r") for n in range(40))
    benchmark = Benchmark(name="long", items=items, licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    answers = [
        Response(item=one.digest, model=model, text="r" if model == REFERENCE else f"{model}{' more' * length}")
        for number, one in enumerate(items)
        for place, model in enumerate(MODELS)
        for length in [(number * (place + 2)) % 5]
    ]
    ledger.add_responses(answers)
    judge(ledger, benchmark, answers, upset=True)
    return benchmark.digest
