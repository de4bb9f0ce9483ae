"""One of each thing that has an identity, fixed for good; run as a module it prints their names as JSON."""

import json
from collections.abc import Iterator

from evenhand.domain.call import Message, Offer, Picture, Request
from evenhand.domain.identity import bytes_hash, draw
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.trial import Condition, Trial

PIXEL = bytes_hash(b"a picture")

SETTINGS = Settings(
    temperature=0,
    top_p=0.9,
    max_tokens=256,
    seed=7,
    stop=("\n\n", "END"),
    top_logprobs=5,
    response_format={"type": "json_object"},
    reasoning_effort="low",
    extra_body={"zeta": [1, None, True], "alpha": {"b": 1, "a": 2.5}},
)
REQUEST = Request(
    endpoint="openai",
    model="gpt-4o-2024-08-06",
    messages=(
        Message(role="system", parts=("You are an impartial judge.",)),
        Message(role="user", parts=("Wie heißt der Berg? 山 🏔", Picture(digest=PIXEL, detail="high", max_edge=1024))),
    ),
    settings=SETTINGS,
    offer=Offer(begin="Overall, Response", answers=(" A", " B")),
    replicate=1,
    attempt=2,
)
ITEM = Item(
    label="7",
    instruction="Wie heißt der Berg? 山 🏔",
    images=("https://example.org/berg.png", PIXEL),
    caption="a mountain",
    reference="Eiger",
    ground_truth="Eiger",
    criteria=(("tone", "warm"), ("length", "short")),
    task="landmarks",
    category="recognition",
)
RESPONSE = Response(
    item=ITEM.digest, model="m-1", text="Der Eiger.", variant="text-only", made_from="0" * 64, alteration="longer"
)
RATER = Rater(kind="model", name="openai/gpt-4o", endpoint="openai", settings=SETTINGS)
CONDITION = Condition(
    protocol="visit_pairwise",
    prompt_hash="ab" * 32,
    readout="constrained",
    see="both",
    fenced=True,
    image_detail="low",
    max_image_edge=768,
    extractor="cd" * 32,
)
TRIAL = Trial(
    item=ITEM.digest, responses=("11" * 32, "22" * 32), rater=RATER.key, condition=CONDITION.key, replicate=1, attempt=2
)
STUDY = Study(
    benchmark="visit-bench-sample",
    data="ef" * 32,
    items=tuple(f"item-{number}" for number in range(5)),
    models=("amber", "blue", "coral", "reference"),
    rater=RATER.key,
    condition=CONDITION.key,
    pairing="random",
    battles=9,
    orders="random",
    replicates=2,
    seed=3,
    variant="text-only",
    purpose="audit",
)
BENCHMARK = Benchmark(name="mountains", items=(ITEM,), licence="CC0", citation="", protocols=())


def names() -> Iterator[tuple[str, str]]:
    yield "call", REQUEST.key
    yield "item", ITEM.digest
    yield "response", RESPONSE.digest
    yield "rater", RATER.key
    yield "condition", CONDITION.key
    yield "trial", TRIAL.key
    yield "study", STUDY.key
    yield "benchmark", BENCHMARK.digest
    yield "draw", str(draw(3, "item-0", "amber", "blue"))
    answers = {item: {model: f"{item} {model}" for model in STUDY.models} for item in STUDY.items}
    yield "trials", bytes_hash("".join(trial.key for trial in wanted(STUDY, answers)).encode())


if __name__ == "__main__":
    print(json.dumps(dict(names())))
