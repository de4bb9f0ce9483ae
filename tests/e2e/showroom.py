"""A ledger with something on every page: both papers' boards, an audited judge, people's studies."""

from contextlib import closing

from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.forms import AskedStudy, FormName, Pairs, Sharing
from evenhand.site.people.studies import make_people_study
from tests.cli.test_judges import people
from tests.e2e.workplace import Workplace
from tests.scripted_server import server_process

VISIT, CREATION = "visit-bench-sample", "creation-mmbench-sample"
FORCED, FIVE_LEVELS = "Following instructions", "Creative writing"


def with_other_judges(here: Workplace, *, items: int = 10, verdicts: int | None = None) -> None:
    """Two more on some items, with prices, and people: what a board of judges shows. `verdicts`: of people, at most."""
    for name, rule, price in (("longest", "prefers-longer", 2), ("first", "always-first", 1)):
        with server_process("--judge", rule) as url:
            who = ("--judge", f"scripted/{name}", "--judge-base-url", url, "--endpoint-name", "scripted", "--quiet")
            ran = here.run("judge", VISIT, *who, "--price", f"input={price},output={price}", "--limit", str(items))
            assert ran.code == 0, ran.err
    told = here.folder / "people.jsonl"
    people(told)
    told.write_text("".join(told.read_text(encoding="utf-8").splitlines(keepends=True)[:verdicts]), encoding="utf-8")
    ran = here.run("import", "people.jsonl", "--judgements", "--benchmark", VISIT)
    assert ran.code == 0, ran.err


def furnished(here: Workplace) -> None:
    with server_process() as url:
        who = ("--judge", "scripted/judge", "--judge-base-url", url, "--endpoint-name", "scripted")
        for command in (
            ("judge", VISIT, *who, "--quiet"),
            ("judge", CREATION, *who, "--quiet"),
            ("audit", *who, "--benchmark", VISIT, "--budget", "200", "--quiet"),
        ):
            ran = here.run(*command)
            assert ran.code == 0, ran.err
    with closing(Ledger(here.store)) as ledger:
        data = {one.name: one.data for one in benchmarks(ledger)}
        shared = Sharing(people=2, each=2)
        studies: tuple[tuple[str, FormName, str], ...] = (
            (FORCED, "forced", VISIT),
            (FIVE_LEVELS, "five-level", CREATION),
        )
        for title, form, name in studies:
            asked = AskedStudy(data=data[name], title=title, form=form, pairs=Pairs(), sharing=shared, most=4)
            make_people_study(ledger, asked, made_by=None)
