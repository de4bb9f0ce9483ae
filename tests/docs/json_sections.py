"""Which JSON documents there are, the commands that print them, and the files these need."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

FILES = {
    "battles.csv": "item,model_a,model_b,verdict,rater,first_shown,length_a,length_b\n"
    + "".join(
        f"{item},{a},{b},{verdict},{rater},{a},{30 + item},40\n"
        for item in range(12)
        for rater in ("ann", "bo")
        for a, b, verdict in (
            ("X", "Y", (2, 1, -1)[item % 3]),
            ("Y", "X", (-1, 0, 1)[item % 3]),
            ("X", "Z", (1, -2)[item % 2]),
            ("Z", "Y", (1, -1, 0)[item % 3]),
        )
    ),
    **{
        f"{name}.csv": "item,model_a,model_b,winner\n"
        + "".join(
            f"i{item},{one},{other},{other if (item * 5 + place) % 12 < 7 + ord(other) - ord(one) else one}\n"
            for item in range(12)
            for place, (one, other) in enumerate(combinations(models, 2))
        )
        for name, models in (("old", "ABCD"), ("new", "ABCDE"))
    },
    "scores.csv": "model,one,two\nA,1,2\nB,2,3\nC,3,5\nD,4,4\nE,5,6\n",
    "people.csv": "item,rater,model_a,model_b,verdict\n"
    + "".join(
        f"s0{item},{rater},sample-careful,sample-rambling,{verdict}\n"
        for item, verdicts in enumerate(((2, 1), (-1, 0), (1, 1)), start=1)
        for rater, verdict in zip(("ann", "bo"), verdicts, strict=True)
    ),
    "raters.csv": "item,rater,rater_kind,model_a,model_b,verdict\n"
    + "".join(
        f"{item},{rater},{kind},{one},{other},{(item + place) % 5 - 2}\n"
        for item in range(6)
        for place, (rater, kind) in enumerate((("ann", "human"), ("bo", "human"), ("one", "model"), ("two", "model")))
        for one, other in ((("base", "X"), ("X", "base")) if kind == "model" else (("base", "X"),))
    ),
    "drawn.csv": "item,rater,rater_kind,model_a,model_b,verdict\n"
    + "".join(
        f"{item},{rater},{kind},X,Y,{1 if (item + item // (4 + place)) % 3 else -1}\n"
        for place, (rater, kind, items) in enumerate((("one", "model", 20), ("ann", "human", 12)))
        for item in range(items)
    ),
    "answers.jsonl": "".join(
        f'{{"item": "s{item:02}", "model": "own", "response": "Seven."}}\n' for item in range(1, 23)
    ),
    "kinds.csv": "image,kind\nred.png,photograph\n",
    "replies.jsonl": '{"item": "1", "reply": "Overall, Response A is better."}\n{"item": "2", "reply": "Neither."}\n',
}
JUDGE = "--judge openai/gpt-4o"


_JOINED = f"evenhand judge visit-bench-sample {JUDGE} --store sqlite:///joined.db"
_NEAREST = "--new sample-planted --pairs nearest --until rank=1 --looks 4 --max-calls 44"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    name: str
    commands: tuple[str, ...]
    says: str
    before: tuple[str, ...] = ()
    """Commands that make what is told of; their documents stand elsewhere."""
    judge: str = "by-quality"
    """The scripted one that answers."""
    opened: frozenset[str] = frozenset()
    """Further objects whose fields are names from the data, by their path."""
    same: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parts that repeat what stands elsewhere, by their path, and where that is."""


DOCUMENTS = (
    Document(
        name="judge --dry-run",
        commands=(f"evenhand judge visit-bench-sample {JUDGE} --limit 3 --dry-run --json",),
        says="What would be asked: trials wanted, those already on record, the calls left (an unreadable reply may "
        "need a second one), tokens, dollars; `cost_usd` is null where no price is known. `cost_usd_low`, "
        "`cost_usd_expected` and `cost_usd_high` are what it is expected to cost, null also where it is not known what "
        "images take; `interval_expected` is what it buys, in points to each side of a rating. `answer`, `grade` and "
        "`audit` have the same costs. `estimated_from` is null, or tells of how many `trials` it was worked out where "
        "there are too many (`of`) to look at each, and within which share the tokens in are known (`input_within`).",
        opened=frozenset({"interval_expected.models"}),
    ),
    Document(
        name="judge",
        commands=(
            f"evenhand judge visit-bench-sample {JUDGE} --limit 3 --json --quiet",
            f"evenhand judge creation-mmbench-sample {JUDGE} --limit 2 --json --quiet",
        ),
        says="What a run did, in trials: planned = known + called + not_reached; `elsewhere` are those that "
        "another run has claimed. `requests` are HTTP requests, retries and extraction included. `verdicts` are "
        "this run's own, called or reread; those on record before are among `known`, and "
        "without a decision in `known_no_verdict`. `no_verdict` counts "
        "replies without a decision, `failed` calls without a reply, each by reason. `reread`: read "
        "anew without a call. `asked_meanwhile`: of the known, what other runs asked since this one began. "
        "`adapted`: what the endpoint made us leave out. `describe-images` and `answer` "
        "print the same.",
        same={"runs": "where several protocols were asked: each as above"},
    ),
    Document(
        name="rank",
        commands=(
            f"evenhand rank --benchmark visit-bench-sample {JUDGE} --json",
            "evenhand rank battles.csv --order-effect --length --ordinal --compare X,Y --baseline Z --json",
            "evenhand rank drawn.csv --raters one --with-people drawn.csv --json",
            "evenhand rank battles.csv --compare X,Y --anytime --json",
        ),
        says="A board: [what each field means](rank.md). `audit` is null, or the document of `audit`.",
    ),
    Document(
        name="score visit-bench",
        commands=(f"evenhand score visit-bench-sample {JUDGE} --json",),
        says="VisIT-Bench's table: [what each field means](score.md).",
        same={
            "parts": "`part`, `items`, `of_items`, and `models` as below",
            "models[].skills": "as `models[]`, with `skill` and `items`, without `bradley_terry`",
            "models[].sources": "as `models[]`, with `source` and `items`, without `bradley_terry`",
        },
    ),
    Document(
        name="score creation-mmbench",
        commands=("evenhand score creation-mmbench-sample --json",),
        says="Creation-MMBench's table: [what each field means](score.md).",
        same={
            "models[].categories": "as `models[]`, with `category`",
            "models[].tasks": "as `models[]`, with `category` and `task`",
        },
    ),
    Document(
        name="audit",
        commands=(f'evenhand audit {JUDGE} --budget 300 --require "coverage>=0.1" --json --quiet',),
        says="A judge's report card: [what each field means](audit.md). Every measure is an object of its own.",
        opened=frozenset({"settings", "pictures"}),
    ),
    Document(
        name="audit --dry-run",
        commands=(f'evenhand audit {JUDGE} --budget 300 --require "coverage>=0.1" --dry-run --json',),
        says="As `judge --dry-run`, with what each rule needs.",
    ),
    Document(
        name="grade",
        commands=(
            f"evenhand grade --benchmark visit-bench-sample {JUDGE} --limit 3 --unrelated --json --quiet",
            f"evenhand grade --benchmark visit-bench-sample {JUDGE} --limit 3 --prompts all --json --quiet",
        ),
        says="The Grade Score: [what each field means](grade.md). Several judges or prompts stand under `cells`.",
        judge="picks-longest",
        same={"cells": "each as the document of one"},
    ),
    Document(
        name="align",
        before=("evenhand import people.csv --judgements --benchmark visit-bench-sample",),
        commands=(
            "evenhand align --benchmark visit-bench-sample --json",
            "evenhand align raters.csv --json",
            "evenhand align drawn.csv --plan 4 --json",
        ),
        says="Raters against people: [what each field means](align.md).",
    ),
    Document(
        name="judges",
        commands=("evenhand judges --benchmark visit-bench-sample --json", "evenhand judges raters.csv --json"),
        says="Every judge of a benchmark, or of files: `agreement` with people (a tie of the judge's counted as "
        "half, in a person's place where several judged the same cases), `people_agreement` what people reach there, "
        "`first_position` the share that goes to the answer shown first, `tokens` of one judgement, `latency_seconds` "
        "the median of a call; the audit's measures as [audit](audit.md) has them. `frontier`: no other judge is both "
        "as cheap and as near to people. "
        "`take` is who should be paid, null where nobody knows.",
    ),
    Document(
        name="report",
        commands=(
            f"evenhand report --benchmark visit-bench-sample {JUDGE} --out report.html --json",
            f"evenhand report --benchmark visit-bench-sample {JUDGE} --out tables.csv --json",
        ),
        says="What was written: [report](report.md). Of tables (`--format md, latex, csv`) only `out` is told, "
        "null where they went to the screen.",
        same={
            "board": "the document of `rank`",
            "scores": "documents of `score`",
            "audit": "the document of `audit`, or null",
        },
    ),
    Document(
        name="correlate",
        commands=("evenhand correlate scores.csv --json",),
        says="Every two benchmarks of a table of scores, over the models that have both.",
    ),
    Document(
        name="sentinel",
        commands=(
            f"evenhand sentinel {JUDGE} --rows 4 --look 2026-11 --store sqlite:///watched.db --quiet --json",
            f"evenhand sentinel {JUDGE} --rows 0 --store sqlite:///watched.db --json",
        ),
        before=(f"evenhand judge visit-bench-sample {JUDGE} --limit 4 --store sqlite:///watched.db --quiet",),
        says="Whether a judge decides as it did: [what each field means](metrics.md). `state` is `changed`, `no sign "
        "of change` or `nothing asked again`; `toward` is `first`, `longer` or `model`. With `--dry-run` as `judge` "
        "has it.",
        same={"asking": "the document of `judge`, or null where nobody was asked"},
    ),
    Document(
        name="bridge",
        commands=("evenhand bridge old.csv new.csv --json",),
        says="An old judge's board and a new one's on the old one's scale: [what each field means](metrics.md). `how`: "
        "rated by `both`, by the `old` judge alone, or `bridged`: by the new one alone.",
    ),
    Document(
        name="bridge --dry-run",
        commands=("evenhand bridge old.csv --dry-run --width 500 --json",),
        says="Which models of the old board the new judge should rate; `chosen` is the cheapest within the width.",
    ),
    Document(
        name="judge --pairs nearest",
        before=(f"{_JOINED} --models sample-careful --models sample-brief --models sample-rambling --json --quiet",),
        commands=(f"{_JOINED} {_NEAREST} --json --quiet",),
        says="As `judge`, with what each placing has come to: `look` of `looks`, the `calls` it is of, of "
        "`calls_made`; `calls_at_random` is what the paper's way would have taken for as small an error; `stopped` is "
        "settled (the rule is met), looks-taken, or null where it goes on. A board's row of such a model has `placed`.",
    ),
    Document(
        name="judge --pairs nearest --dry-run",
        commands=(f"{_JOINED} {_NEAREST} --dry-run --json",),
        says="What each rule took where models of the board were placed again: calls on average, the fewest and the "
        "most, and of how many it was met. `cost_usd` is the most that so many calls can cost; `cost_usd_low`, "
        "`cost_usd_expected` and `cost_usd_high` are of the calls that are not known yet, of the rule asked for and of "
        "all who join together.",
    ),
    Document(
        name="read",
        commands=("evenhand read visit_pairwise replies.jsonl --json",),
        says="Verdicts of raw replies; null beside a `reason`.",
    ),
    Document(
        name="reproduce",
        commands=("evenhand reproduce grade-score --json", "evenhand reproduce all --json"),
        says="A paper's tables, row by row: what it printed, what its own figures give, the difference, and a note "
        "where it is wrong. `all` has each paper under `papers`.",
        same={"papers": "each as the document of one"},
    ),
    Document(
        name="describe",
        commands=(
            "evenhand describe visit-bench-sample --json",
            "evenhand describe creation-mmbench-sample own.jsonl --detector d.onnx --image-kinds kinds.csv --json",
        ),
        says="What benchmarks hold: [what each field means](describe.md).",
        same={
            "benchmarks[].lengths.reference": "as that of the instruction",
            "benchmarks[].lengths.caption": "as that of the instruction",
        },
    ),
    Document(
        name="runs",
        commands=("evenhand runs --json",),
        says="Every run on record: its command and flags (`settings`), version, times, and how it ended "
        "(`outcome`: as `judge` prints it, with `interrupted`, `over_budget`, `error`, `error_code` and "
        "`charged_usd`). "
        "`ended_at` is null while it runs, or where it was killed. `spent_usd` is what its calls cost so far, replies "
        "of no use included; `cut_off_usd` what counts as spent because calls were under way when it was killed.",
        opened=frozenset({"runs[].settings"}),
    ),
    Document(
        name="show --item",
        commands=("evenhand show --benchmark visit-bench-sample --item s01 --json",),
        says="One item whole, every answer to it and every trial on it. `means` says the verdict in words, "
        "`detail` why there is none.",
    ),
    Document(
        name="benchmarks",
        commands=("evenhand benchmarks --json",),
        says="The available benchmarks; counts are null where the data is not bundled. `notes` has a sentence on each "
        "that is installed and cannot be used.",
    ),
    Document(
        name="protocols",
        commands=("evenhand protocols --json",),
        says="The available protocols: [what each field means](protocols.md).",
        opened=frozenset({"protocols[].settings", "protocols[].constrained.answers"}),
    ),
    Document(name="models", commands=("evenhand models --json",), says="The available providers; no key is shown."),
    Document(
        name="ledger info",
        commands=("evenhand ledger info --json",),
        says="Size and counts. `cost_unknown` are the calls whose price is not known; `chain` is the head of the "
        "chain over [the record](record.md), and `public_keys` verify receipts, the one that signs now first.",
    ),
    Document(
        name="ledger copy",
        commands=("evenhand ledger copy sqlite:///.evenhand/ledger.db sqlite:///copied/ledger.db --json",),
        says="What was copied. `digest` stands for all tables, `tables[].digest` for one: the same of the same rows in "
        "whatever database; each was read again in the copy before the copy counted. `chain` is the head of the chain.",
    ),
    Document(
        name="ledger keys list",
        commands=("evenhand ledger keys list --json",),
        says="The public keys that verify receipts; `retired` is null for the one that signs now.",
    ),
    Document(
        name="doctor",
        commands=("evenhand doctor --json",),
        says="What was checked, each with a sentence; `state` is `ok`, `no` (it cannot, and need not) or `wrong`.",
    ),
    Document(
        name="benchmarks show",
        commands=("evenhand benchmarks show visit-bench-sample --items --json",),
        says="One benchmark. `item_list` is there with `--items`; `sources` are the datasets that VisIT-Bench drew on.",
    ),
    Document(
        name="benchmarks show --pages",
        commands=("evenhand benchmarks show visit-bench-sample --pages cases --json",),
        opened=frozenset({"kinds"}),
        says="Files of pages: those `written` now and those `removed`, as paths below the folder, how many are as "
        "before, and by `kinds` how many there are. `publish` has the same.",
    ),
    Document(
        name="benchmarks fetch",
        commands=("evenhand benchmarks fetch own.jsonl --allow-private --json",),
        says="Images given as URLs: those fetched before, those fetched now, and `failed` by reason. Of a benchmark's "
        "own file (without `--data`): the paths of the `files`.",
    ),
    Document(
        name="protocols show",
        commands=("evenhand protocols show visit_pairwise --json",),
        says="One protocol whole, with the `turns` as they are sent.",
        opened=frozenset({"settings", "constrained.answers"}),
    ),
    Document(
        name="import",
        commands=(
            "evenhand import answers.jsonl --responses --benchmark visit-bench-sample --json",
            "evenhand import people.csv --judgements --benchmark visit-bench-sample --json",
        ),
        says="What was taken into the ledger, of answers and of judgements.",
    ),
    Document(
        name="sample",
        commands=("evenhand sample creation-mmbench-sample --per-task 1 --json",),
        says="The questions drawn for people, and the study that they make.",
    ),
    Document(
        name="score --compare-variants",
        before=tuple(
            f"evenhand {command} --limit 2 --quiet --store sqlite:///variants.db"
            for command in (
                "describe-images creation-mmbench-sample --model openai/gpt-4o --mode generic",
                "answer creation-mmbench-sample --model openai/gpt-4o --name painter",
                "answer creation-mmbench-sample --model openai/gpt-4o --name painter --variant text-only-generic",
                f"judge creation-mmbench-sample {JUDGE}",
                f"judge creation-mmbench-sample {JUDGE} --models painter --models reference",
                f"judge creation-mmbench-sample {JUDGE} --variant text-only-generic",
            )
        ),
        commands=("evenhand score creation-mmbench-sample --compare-variants --store sqlite:///variants.db --json",),
        says="Creation-MMBench with images and without, model by model.",
        same={"variants": "each the document of `score creation-mmbench`"},
    ),
    Document(
        name="ledger check",
        commands=("evenhand ledger check --json",),
        says="What was looked at, and what is missing or changed; [what the chain tells](record.md). In `findings[]` "
        "are, by table, how many rows were changed, put in or taken out, the keys of those on record, and when those "
        "were written that are not; `rests` is what rests on them; `erased` counts, by table, texts that were taken "
        "away and left their digest.",
    ),
    Document(
        name="show RUN",
        commands=("evenhand show RUN --json",),
        says="A run, by the beginning of its id, and every trial of its study.",
        judge="prefers-longer",
        opened=frozenset({"settings"}),
    ),
    Document(
        name="compare",
        commands=("evenhand compare EARLIER RUN --json",),
        says="Two runs, each as the record stood when it ended. `battles` counts those of both by what became of them; "
        "`agreement` is the share that ended alike, of those with a verdict in both. `models[].difference` is the "
        "second rating less the first, its interval of the same resamples of items for both; `items` and `changes` "
        "list what changed, `first` and `second` in `changes` being model_a, model_b, tie or null.",
        judge="prefers-longer",
        opened=frozenset({"differences"}),
    ),
    Document(
        name="show TRIAL",
        commands=("evenhand show TRIAL --json",),
        says="A trial, by the beginning of its key: what was sent and what came back.",
        judge="prefers-longer",
        opened=frozenset({"judgements[].notes"}),
    ),
)
