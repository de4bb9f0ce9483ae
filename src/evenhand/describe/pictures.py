"""The images of a benchmark: how many an item has, their types, sizes and licences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.images import ImageError, ImageStore, inspect

UNSTATED = "not stated"

Counted = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Of the available images, in pixels."""

    width_median: float
    height_median: float
    smallest: tuple[int, int]
    largest: tuple[int, int]

    def as_json(self) -> dict[str, Json]:
        return {
            "width_median": self.width_median,
            "height_median": self.height_median,
            "smallest": list(self.smallest),
            "largest": list(self.largest),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    named: int
    """Images that the items show; one that several show counts for each."""
    different: int
    per_item: tuple[tuple[int, int], ...]
    """Number of images, and the items that have so many."""
    at_hand: int
    """Of the different ones, those whose bytes are here."""
    unreadable: int
    """Of the available ones, the ones that cannot be decoded."""
    types: Counted
    sizes: Sizes | None
    licences: Counted
    """By what the data says of each image that is named."""
    kinds: Counted
    """As labelled by the user; empty where nobody did."""

    def as_json(self) -> dict[str, Json]:
        return {
            "named": self.named,
            "different": self.different,
            "per_item": [{"images": images, "items": items} for images, items in self.per_item],
            "at_hand": self.at_hand,
            "unreadable": self.unreadable,
            "types": counted_json("type", "images", self.types),
            "sizes": self.sizes and self.sizes.as_json(),
            "licences": counted_json("licence", "images", self.licences),
            "kinds": counted_json("kind", "images", self.kinds),
        }


def pictures(benchmark: Benchmark, *, store: ImageStore | None, kinds: Mapping[str, str]) -> ImageFacts:
    """`store` holds what was fetched; `kinds` labels images by the names that the items give them."""
    shown = [name for item in benchmark.items for name in item.images]
    found: list[tuple[str, int, int]] = []
    unreadable = 0
    for content in at_hand(benchmark, store):
        try:
            info = inspect(content)
        except ImageError:
            unreadable += 1
        else:
            found.append((info.media_type, info.width, info.height))
    return ImageFacts(
        named=len(shown),
        different=len(_digests(benchmark)),
        per_item=tuple(sorted(Counter(len(item.images) for item in benchmark.items).items())),
        at_hand=len(found) + unreadable,
        unreadable=unreadable,
        types=commonest(media for media, _, _ in found),
        sizes=_sizes([(width, height) for _, width, height in found]),
        licences=commonest(benchmark.licences.get(name, UNSTATED) for name in shown),
        kinds=commonest(kinds[name] for name in shown if name in kinds),
    )


def at_hand(benchmark: Benchmark, store: ImageStore | None) -> Iterator[bytes]:
    """The different images that items show and whose bytes are here, one after the other: not all fit in memory."""
    fetched = frozenset(store.digests()) if store is not None else frozenset[str]()
    for digest in _digests(benchmark):
        if digest in benchmark.pictures:
            yield benchmark.pictures[digest]
        elif store is not None and digest in fetched:
            yield store.get(digest)


def _digests(benchmark: Benchmark) -> list[str]:
    """Of the different images; an address where there is none."""
    names = {name for item in benchmark.items for name in item.images}
    return sorted({benchmark.addresses.get(name, name) for name in names})


def commonest(values: Iterable[str]) -> Counted:
    counted = Counter(values)
    return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def counted_json(name: str, of: str, counted: Counted) -> list[Json]:
    return [{name: value, of: count} for value, count in counted]


def _sizes(found: Sequence[tuple[int, int]]) -> Sizes | None:
    if not found:
        return None
    by_area = sorted(found, key=lambda size: (size[0] * size[1], size))
    return Sizes(
        width_median=median(width for width, _ in found),
        height_median=median(height for _, height in found),
        smallest=by_area[0],
        largest=by_area[-1],
    )
