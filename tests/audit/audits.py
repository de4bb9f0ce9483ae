"""What an audit of the bundled sample is made of."""

from evenhand.audit.alterations import SLOTS, Planting
from evenhand.audit.plants import KINDS, ways_of
from evenhand.audit.trials import Makers, ShownTwins, Sources
from evenhand.audit.twins import twins_for
from evenhand.audit.wording import Wording
from evenhand.benchmarks.answers.responses_file import read_responses, reference_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import See
from evenhand.engine.tasks.grading import Grading, prepare_grade
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.protocols.catalog import load_protocol

SAMPLE = load_benchmark("visit-bench-sample")
ANSWERS = [*read_responses(bundled_answers(SAMPLE), SAMPLE).responses, *reference_responses(SAMPLE)]
PROTOCOL = load_protocol("visit_pairwise")
JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai")
ALL = 10_000


def prepared(benchmark: Benchmark, answers: list[Response], see: See) -> PreparedStudy:
    return prepare(
        benchmark,
        answers,
        items=benchmark.items,
        judge=JUDGE,
        model="judge",
        showing=Showing(protocol=PROTOCOL, see=see),
        matching=Matching(purpose="audit"),
    )


def sources(benchmark: Benchmark = SAMPLE, answers: list[Response] = ANSWERS, *, seed: int = 0) -> Sources:
    base = prepared(benchmark, answers, "images")
    makers = Makers(base, seed=seed)
    twins = twins_for(benchmark)
    of_twins = [answer for twin in twins.each for answer in twin.answers()]
    return Sources(
        benchmark=benchmark,
        prepared=base,
        makers=makers,
        graded=prepare_grade(
            benchmark,
            makers.option_sets(),
            pool=(),
            judge=JUDGE,
            model="judge",
            showing=Showing(protocol=load_protocol("option_selection")),
            grading=Grading(),
        ),
        seen=ShownTwins(twins=twins, own=prepared(twins.benchmark, of_twins, "images")),
    )


def plantings(wording: Wording) -> tuple[Planting, ...]:
    """All that can be worded."""
    ways = [way for kind in KINDS for way in ways_of(kind, wording)]
    return tuple(Planting(way=way, variant=name, slot=slot) for way in ways for name in way.variants for slot in SLOTS)
