"""A benchmark, answers and a judged study of any size, the same at every run; and pictures of about 100 KB."""

import io
import itertools
import random
import re
from collections.abc import Iterator, Sequence
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
    """Texts of made-up words, each as often as in English: the second word half as often as the first, and so on."""

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


class Prose:
    """English sentences: what models write about pictures, and what a judge writes about two answers."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def about_a_picture(self, characters: int) -> str:
        """In paragraphs, every fourth text with a list in it."""
        lists = self.draw.random() < 0.25
        return self._text(_OF_PICTURES, characters, breaks=("\n\n", "\n- ") if lists else (" ", " ", " ", "\n\n"))

    def of_a_judge(self, first: str, second: str, characters: int, *, ending: str) -> str:
        """It quotes some words of the answers that it compares, and ends as it is told to."""
        quotes = {"quote_a": self._some_words(first), "quote_b": self._some_words(second)}
        return self._text(_OF_JUDGES, characters - len(ending), breaks=(" ", " ", "\n\n"), **quotes) + ending

    def _text(self, sentences: Sequence[str], characters: int, *, breaks: Sequence[str], **given: str) -> str:
        """Cut at the length that is asked for, as a limit of tokens would cut it, but for the stop at its end."""
        written = ""
        while len(written) < characters:
            pattern = self.draw.choice(sentences)
            filled = _SLOT.sub(lambda slot: given.get(slot[1]) or self.draw.choice(_FILLINGS[slot[1]]), pattern)
            written += (self.draw.choice(breaks) if written else "") + filled[0].upper() + filled[1:]
        return written[: characters - 1] + "."

    def _some_words(self, text: str) -> str:
        words = text.split()
        start = self.draw.randrange(max(1, len(words) - 8))
        return " ".join(words[start : start + self.draw.randint(3, 8)]).strip(" .,-")


_SLOT = re.compile(r"\{(\w+)\}")
_FILLINGS = {
    "who": (
        "a child", "two fishermen", "an elderly couple", "the cyclist", "a woman in a red coat", "the shopkeeper",
        "a small brown dog", "three students", "the man with the umbrella", "a group of tourists", "the conductor",
        "a waiter", "several pigeons", "the girl on the left", "a street musician", "the driver", "nobody",
        "a black-and-white cat", "the player in blue", "a mechanic", "the vendor", "an older man", "the photographer",
    ),
    "does": (
        "leans against", "walks past", "is looking at", "holds", "has just left", "points to", "stands next to",
        "is carrying", "waits beside", "reaches for", "sits in front of", "seems to ignore", "is repairing",
        "appears to be selling", "rests on", "is about to cross", "watches", "turns away from", "shelters under",
    ),
    "what": (
        "a wooden bench", "the tram", "a stack of crates", "the old lighthouse", "an open umbrella", "the fountain",
        "a market stall", "the stone bridge", "a pile of newspapers", "the bakery window", "a silver bicycle",
        "the traffic light", "a rusty anchor", "the ticket machine", "a bowl of oranges", "the chessboard",
        "a delivery van", "the clock tower", "a row of lanterns", "the railing", "a suitcase", "the birthday cake",
        "a green door", "the whiteboard", "a fishing boat", "the staircase", "a hand-painted sign", "the guitar case",
    ),
    "where": (
        "in the foreground", "on the right-hand side", "near the harbour", "behind the fence", "at the crossing",
        "under the awning", "in the middle of the square", "along the canal", "by the window", "in the background",
        "on the wet pavement", "beneath the arch", "at the top of the stairs", "across the street", "in the shade",
        "next to the entrance", "between two parked cars", "on the far bank", "in a narrow alley", "on the platform",
    ),
    "how": (
        "bright", "faded", "crowded", "quiet", "damp", "freshly painted", "slightly blurred", "late-summer", "narrow",
        "cheerful", "worn", "colourful", "empty", "well-lit", "ordinary", "old-fashioned", "modern", "cluttered",
        "peaceful", "striking", "warm", "grey", "tidy", "unusual", "handmade", "busy", "half-finished", "elegant",
    ),
    "why": (
        "because the light comes from the left", "since it has probably rained", "which suggests that it is early",
        "so the scene feels calm", "although the details are hard to make out", "as the shadows are long",
        "which is typical of a port town", "even though the shop is closed", "while the rest stays in the dark",
        "so that the eye is drawn to the centre", "which makes the picture easy to date", "if one looks closely",
    ),
    "many": ("two", "three", "four", "at least five", "half a dozen", "about ten", "12", "a handful of", "7", "many"),
    "sign": ("OPEN", "Platform 4", "Fresh fish", "No parking", "Est. 1924", "Exit", "Sale: 30 %", "Caf\u00e9 Luna"),
    "side": ("Response A", "Response B", "the first response", "the second response"),
    "good": (
        "accurate", "specific", "fluent", "complete", "well organised", "careful about what cannot be seen",
        "closer to the instruction", "easy to follow", "concrete", "relevant", "helpful", "honest about doubt",
    ),
    "weak": (
        "vague", "repetitive", "longer than it needs to be", "less certain than the picture allows", "generic",
        "short of examples", "a little confusing", "wrong about one detail", "silent on the second question",
    ),
    "aspect": (
        "accuracy", "the level of detail", "fluency", "relevance", "the setting", "the colours", "the people shown",
        "the mood of the scene", "what the instruction asks for", "structure", "tone", "the text on the sign",
    ),
}  # fmt: skip
_OF_PICTURES = (
    "{who} {does} {what} {where}, {why}.",
    "the picture shows {who} {where}; {who} {does} {what}.",
    "{where}, one can see {many} {how} houses and {what}.",
    'there is a sign that reads "{sign}" {where}, and {who} {does} it.',
    "it looks like a {how}, {how} afternoon: {who} {does} {what}, and {who} {does} {what}.",
    "what stands out is how {how} everything is, {why}.",
    "to answer the question, I would say that {who} {does} {what} {why}.",
    "the colours are {how} and {how}, with {what} as the only contrast.",
    "if you are planning a visit, look for {what} {where}; it's {how}, and there are usually {many} people.",
    "{who} doesn't seem to notice that {who} {does} {what}.",
    "a good caption might be: a {how} moment {where}, {why}.",
    "in short, {what} and {what} make the scene {how} (and rather {how}), {why}.",
    "I can't tell whether {who} {does} {what}, but {what} {where} makes it likely.",
)
_OF_JUDGES = (
    "{side} is {good} and {good}, but it is {weak}.",
    "in terms of {aspect}, {side} does better: it mentions {what} and {what} {where}.",
    'it says "{quote_a}", which agrees with the description of the image.',
    '{side} mentions "{quote_b}", and that adds to {aspect}.',
    "on {aspect}, both are {good}, {why}.",
    "the instruction asks for more than {aspect}; {side} leaves this out.",
    "{side} describes {who} who {does} {what}, which can be seen {where}.",
    "as to {aspect}, there is little between them, although {side} is {weak}.",
    "step by step: the image shows {what} {where}, and {side} names it, so it is {good}.",
    "compared with the other one, {side} is more {good}, {why}.",
    "neither of them says why {who} {does} {what}.",
)
