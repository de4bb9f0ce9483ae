"""A trial whose reply held no decision is asked again only on purpose, under a number of its own."""

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

from evenhand import protocols
from evenhand.domain.verdict import Preference
from evenhand.engine.run.plan import Retrying
from evenhand.engine.tasks.judging import Matching, PreparedStudy
from evenhand.ledger.read.projection import judged, studies
from evenhand.protocols.folder import protocol_from_folder
from tests import warm
from tests.engine.studies import Bench, bench
from tests.refusals import noted
from tests.scripted_server import Script, ScriptedServer


def evenhand(folder: Path, *arguments: str, expect: int = 0) -> dict[str, Any]:
    done = warm.run(*arguments, "--json", cwd=folder, env={**os.environ, "EVENHAND_QUIET": "1"})
    assert done.returncode == expect, done.stderr
    return json.loads(done.stdout)


async def test_the_first_verdict_got_by_asking_again_counts(tmp_path: Path) -> None:
    import asyncio

    asked = itertools.count()

    def undecided_at_first(body: dict[str, Any]) -> str:
        if "FinalAnswerExtractionGPT" in body["messages"][0]["content"]:
            return "Final Answer: Unknown"
        return "Both have merits." if next(asked) < 8 else "Overall, Response A is better."

    async with ScriptedServer(Script(judge=undecided_at_first)) as server:

        async def judge(*more: str, expect: int = 0) -> dict[str, Any]:
            arguments = (
                "judge", "visit-bench-sample", "--judge", "openai/m", "--judge-base-url", server.base_url,
                "--pairs", "random", "--battles", "4", *more,
            )  # fmt: skip
            return await asyncio.to_thread(evenhand, tmp_path, *arguments, expect=expect)

        first = await judge(expect=3)
        assert first["no_verdict"] == {"unreadable": 8}
        known = await judge(expect=3)
        assert (known["called"], known["known_no_verdict"]) == (0, {"unreadable": 8})
        assert (await judge("--retry-reason", "refused", expect=3))["called"] == 0
        again = await judge("--retry-reason", "unreadable")
        assert (again["called"], again["verdicts"], again["known"]) == (8, 8, 0)
        assert (await judge("--retry-reason", "unreadable"))["called"] == 0
        settled = await judge()
        assert (settled["called"], settled["known"], settled["known_no_verdict"]) == (0, 8, {})
        board = await asyncio.to_thread(evenhand, tmp_path, "rank")
    assert board["coverage"] == {"wanted": 8, "with_verdict": 8, "reasons": {}}
    assert noted(board["notes"], "8 verdicts", "asking again")
    # The same words were sent both times, and the extractor read "Both have merits." once for all.
    assert len({json.dumps(seen.body) for seen in server.requests}) == 8 + 1
    assert len(server.requests) == 8 + 8 + 1


async def test_a_newer_reader_reads_every_attempt_again_without_a_call(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(Path(protocols.__file__).parent / "visit_pairwise", folder)
    file = folder / "protocol.toml"
    file.write_text(file.read_text().replace('extraction = "visit_extraction"\n', ""))
    replies = itertools.chain(
        ["Both have merits.", "Both have faults."], itertools.repeat("Overall, Response A is better.")
    )

    def next_reply(body: dict[str, Any]) -> str:
        return next(replies)

    async with bench(tmp_path, Script(judge=next_reply)) as it:

        def study() -> PreparedStudy:
            return it.study(items=1, matching=Matching(orders="published"), protocol=protocol_from_folder(folder))

        again = Retrying(reasons=frozenset({"unreadable"}))
        for retrying in (None, again, again):
            await it.run(study(), retrying=retrying)
        assert len(it.server.requests) == 3
        assert values(it) == [1]
        file.write_text(file.read_text().replace('"A" = 1\n"B" = -1\n', '"A" = -1\n"B" = 1\n', 1))
        ended = await it.run(study())
        assert (ended.tally.planned, ended.tally.reread, ended.tally.called, ended.tally.not_reached) == (3, 3, 0, 0)
        assert values(it) == [-1]
        assert (await it.run(study())).tally.planned == 1
        file.write_text(file.read_text().replace("pattern = [\n", "pattern = [\n'(B)oth have faults',\n", 1))
        await it.run(study())
        assert values(it) == [1], "an earlier attempt now holds the first verdict got"
        assert len(it.server.requests) == 3


def values(it: Bench) -> list[int]:
    """What counts for each trial."""
    return [
        one.judgement.verdict.value
        for one in judged(it.ledger, studies(it.ledger))
        if isinstance(one.judgement.verdict, Preference)
    ]
