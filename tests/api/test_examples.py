"""The examples in the public functions' docstrings run, and print what they say."""

import doctest
import inspect
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evenhand as eh
from evenhand.ledger.store.runs import runs
from tests.scripted_server import server_process

PEOPLE = "\n".join(
    [
        "item,rater,rater_kind,model_a,model_b,verdict",
        *(f"{item},{rater},human,X,reference,{item % 3 - 1}" for item in range(4) for rater in ("ann", "bob")),
        *(f"{item},m,model,X,reference,{item % 3 - 1}" for item in range(4)),
    ]
)
OPTIONS = "\n".join(
    f'{{"item": "{n}", "prompt": "Name {n} rivers.", "outputs": ["Danube {n}.", "Rhine {n}, a long one.", "Elbe."]}}'
    for n in range(3)
)
FUNCTIONS = sorted(name for name in eh.__all__ if inspect.isfunction(getattr(eh, name)))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "by-quality") as url:
        yield url


@pytest.fixture(scope="module")
def picker() -> Iterator[str]:
    """A judge that picks one of several options."""
    with server_process("--judge", "picks-longest") as url:
        yield url


@pytest.fixture(scope="module")
def judged(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger on which the examples only read."""
    path = tmp_path_factory.mktemp("judged") / "ledger.db"
    bench = eh.load_benchmark("visit-bench-sample")
    answers = eh.read_responses(eh.bundled_answers(bench), bench)
    few = eh.Matching(pairing="random", battles=30)
    # Twice, so that there are two runs to compare; the second finds all known.
    for _ in range(2):
        eh.judge(bench, answers, judge="scripted/judge", base_url=server, ledger=path, matching=few)
    return path


def battles(models: str) -> str:
    """On each of twelve items every two models; the later in the alphabet wins the more, the further they are apart."""
    rows = [
        f"i{item},{one},{other},{other if (item * 5 + place) % 12 < 7 + ord(other) - ord(one) else one}"
        for item in range(12)
        for place, (one, other) in enumerate(combinations(models, 2))
    ]
    return "\n".join(["item,model_a,model_b,winner", *rows])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_in_the_docstring_runs(
    name: str, server: str, picker: str, judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENHAND_STORE", raising=False)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("options.jsonl").write_text(OPTIONS, encoding="utf-8")
    Path("old.csv").write_text(battles("ABCD"), encoding="utf-8")
    Path("new.csv").write_text(battles("ABCDE"), encoding="utf-8")
    asked = picker if name.startswith("grade") else server
    known: dict[str, Any] = {"eh": eh, "pl": pl, "server": asked, "judged": judged}
    with eh.open_ledger(f"sqlite:///{judged}") as ledger:
        known["second"], known["first"] = (run.id for run in runs(ledger) if run.command.startswith("judge"))
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(eh, name)) or "", known, name, None, None)
    assert test.examples, f"eh.{name} has no example"
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


def test_every_exported_error_is_an_evenhand_error_and_stays_what_it_was() -> None:
    errors = [one for name in eh.__all__ if inspect.isclass(one := getattr(eh, name)) and issubclass(one, Exception)]
    assert len(errors) > 10
    assert all(issubclass(one, eh.EvenhandError) for one in errors)
    assert issubclass(eh.DataError, ValueError)
    assert issubclass(eh.ProtocolError, ValueError)
