"""A benchmark, answers and a judged study of any size, the same at every run; and pictures of about 100 KB."""

import io
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.domain.identity import bytes_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import See
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.ledger.store.record import Ledger
from evenhand.models.endpoint import Endpoint, resolve
from evenhand.protocols.catalog import load_protocol

MODEL = "scripted"
PICTURES_EACH = 3
_PHRASE = (
    "the a red blue small wooden boat house child dog river bridge light stands near behind under holds shows "
    "because two three people walking toward an old market where fruit is sold in the early morning and nobody looks up"
)
_WORDS = _PHRASE.split()
_VOCABULARY = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    benchmark: Benchmark
    responses: tuple[Response, ...]

    def prepared(self, ledger: Ledger, *, endpoint: Endpoint, see: See = "caption") -> PreparedStudy:
        """Every pair of models in both orders, as `evenhand judge` prepares it without further flags."""
        protocol = load_protocol("visit_pairwise")
        return prepare(
            self.benchmark,
            self.responses,
            items=self.benchmark.items,
            judge=Rater(kind="model", name=endpoint.name, endpoint=endpoint.identity, settings=protocol.settings),
            model=endpoint.model,
            showing=Showing(protocol=protocol, see=see),
            matching=Matching(),
            fence_secret=ledger.fence_secret(),
        )


def generated(
    *, items: int, models: int, pictures: bool = False, caption: int = 40, answer: tuple[int, int] = (50, 70)
) -> Generated:
    """Instructions of 30 words, captions and answers of so many; with `pictures`, three different ones an item."""
    draw = random.Random(0)
    files: dict[str, bytes] = {}
    asked: list[Item] = []
    for number in range(items):
        shown = [picture(draw, as_jpeg=place % 2 == 0) for place in range(PICTURES_EACH)] if pictures else []
        named = {bytes_hash(data): data for data in shown}
        files |= named
        asked.append(
            Item(label=str(number), instruction=_words(draw, 30), caption=_words(draw, caption), images=tuple(named))
        )
    benchmark = Benchmark(
        name="generated", items=tuple(asked), licence="CC0", citation="none", protocols=("visit_pairwise",),
        pictures=files,
    )  # fmt: skip
    return Generated(benchmark=benchmark, responses=tuple(_answers(draw, benchmark, models, answer)))


def _answers(draw: random.Random, benchmark: Benchmark, models: int, answer: tuple[int, int]) -> Iterator[Response]:
    for item in benchmark.items:
        for model in range(models):
            yield Response(item=item.digest, model=f"model-{model:02}", text=_words(draw, draw.randint(*answer)))


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(_WORDS, k=count)).capitalize() + "."


def picture(draw: random.Random, *, as_jpeg: bool) -> bytes:
    """About 100 KB: noise over a gradient as JPEG of 640 x 480, pure noise as PNG of 184 x 184."""
    from PIL import Image

    out = io.BytesIO()
    if not as_jpeg:
        Image.frombytes("RGB", (184, 184), draw.randbytes(184 * 184 * 3)).save(out, "PNG")
        return out.getvalue()
    size = (640, 480)
    noise = Image.frombytes("L", size, draw.randbytes(size[0] * size[1]))
    photo = Image.blend(Image.linear_gradient("L").resize(size), noise, 0.2).convert("RGB")
    photo.save(out, "JPEG", quality=85)
    return out.getvalue()


def endpoint_at(base_url: str) -> Endpoint:
    return resolve(MODEL, base_url=base_url, endpoint_name="bench", environment={})


class Words:
    """Texts of words as often as in English: the second word half as often as the first, and so on."""

    def __init__(self, seed: int) -> None:
        letters = random.Random(0)
        made = ["".join(letters.choices("etaoinshrdlucmfwyp", k=letters.randint(2, 9))) for _ in range(_VOCABULARY)]
        self._words = made
        self._weights = list(itertools.accumulate(1 / (rank + 2) for rank in range(_VOCABULARY)))
        self.draw = random.Random(seed)

    def text(self, count: int) -> str:
        return " ".join(self.draw.choices(self._words, cum_weights=self._weights, k=count)).capitalize() + "."

    def up_to(self, characters: int) -> str:
        return self.text(characters // 5)[:characters]
