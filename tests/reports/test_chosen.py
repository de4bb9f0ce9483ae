"""Claims about files whose figures against the reference would tell single verdicts, and about those that would not."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from random import Random

import pytest

from evenhand.domain.item import Item
from evenhand.reports.board.withheld.chosen import DRAWN, ChosenAnswers, EarlierAnswers, chosen_answers
from evenhand.reports.board.withheld.released import FEWEST

SKILLS = ("counting", "reading", "yes or no")
ITEMS = tuple(
    Item(label=f"{skill} {n}", instruction=f"{skill} {n}?", reference="r", category=skill)
    for skill in SKILLS
    for n in range(8)
)
THINGS = (
    "a lighthouse at dusk", "two fishing boats", "a red tram", "an old clock tower", "children with a kite",
    "a bowl of cherries", "snow on a roof", "a cat behind the glass", "a market stall", "four cyclists",
    "a broken fence", "a train at the platform", "the harbour crane", "sheep on a hill", "a man with an umbrella",
    "a wet street", "three lanterns", "a piano without a lid", "a sign in Greek", "a dog in the water",
    "an open window", "the rear of a lorry", "a chess board", "a tent by the lake",
)  # fmt: skip

BY_LOT = frozenset(one.digest for one in ITEMS[::2])
"""Half of the items, on which a file meets the reference."""

Answers = Mapping[str, str]


def answers(say: Callable[[int, Item], str]) -> dict[str, str]:
    found = {item.digest: say(place, item) for place, item in enumerate(ITEMS)}
    return {item: text for item, text in found.items() if text}


def yes_or_no(place: int) -> str:
    """Yes to most."""
    return "No" if place % 4 == 3 else "Yes"


def wordy(place: int, item: Item) -> str:
    start = f"{yes_or_no(place)}, " if item.category == "yes or no" else ""
    return f"{start}in the picture one can see {THINGS[place]}, a little to the left."


def other(place: int, _item: Item) -> str:
    return f"What is shown is {THINGS[-1 - place]}."


def changed(before: Answers, items: set[int], text: str = "Here I say something else about it.") -> dict[str, str]:
    return {**before, **{ITEMS[place].digest: f"{text} {place}" for place in items}}


OWN = answers(lambda place, item: f"{THINGS[place].capitalize()}, as asked in {item.label}.")
EARLIER = (
    EarlierAnswers(name="founder", own=False, founding=True, texts=answers(wordy)),
    EarlierAnswers(name="our first", own=True, texts=OWN),
    EarlierAnswers(name="terse", own=False, texts=answers(lambda place, _: "BAC"[place % 3])),
)

HONEST: dict[str, dict[str, str]] = {
    "wholly new answers": answers(other),
    "yes and no, where others say so at more length": answers(
        lambda place, item: yes_or_no(place) if item.category == "yes or no" else other(place, item)
    ),
    "four equal short answers of a skill's seven": answers(
        lambda place, item: "" if place == 7 else "Two." if place < FEWEST - 1 else other(place, item)
    ),
    "letters of choices": answers(lambda place, _: "ABCD"[place * 7 % 4]),
    "numbers": answers(lambda place, _: str(place * 5 % 9)),
    "one pattern": answers(lambda place, _: f"The picture shows {THINGS[place]}."),
    "long words before each answer": answers(
        lambda place, _: f"Thank you for the question. Having looked closely at it, I see {THINGS[place]}."
    ),
    "most letters as another's": answers(lambda place, _: "BAC"[place % 3] if place % 5 else "D"),
    "a third of them as before": changed(OWN, {place for place in range(24) if place % 3}),
    "a third refused in one sentence": answers(
        lambda place, item: "I am sorry, but I cannot help with that." if place % 3 == 0 else other(place, item)
    ),
    "another script": answers(lambda place, _: f"图中可以看到第{place}样东西：{THINGS[place]}。"),
    "some left out": answers(lambda place, item: "" if place % 4 == 0 else other(place, item)),
}

UNSURE = ("It cannot be determined from the picture.", "The question does not fit the picture.")
"""As questions ask for it that leave it to a model whether yes or no can be said."""


def yes_no_or_unsure(place: int, sentences: int) -> str:
    unsure = place % 4 == 1
    return UNSURE[place // 4 % sentences] if unsure else "No" if place % 3 == 0 else "Yes"


@pytest.mark.parametrize("sentences", [1, 2])
def test_an_honest_yes_no_or_unsure_is_no_copy_though_the_third_is_a_sentence(sentences: int):
    """It is the same to however many items, where the question says in which words to answer."""
    texts = answers(lambda place, _: yes_no_or_unsure(place, sentences))
    founder = EarlierAnswers(name="founder", own=False, founding=True, texts=texts)
    honest = answers(lambda place, _: "No" if place % 7 == 2 else yes_no_or_unsure(place, sentences))
    assert chosen_answers(honest, ITEMS, [founder]) == ChosenAnswers()


NONSENSE = "Nothing at all can be said here."
TELLING: dict[str, tuple[dict[str, str], ChosenAnswers]] = {
    "nonsense everywhere but once": (
        answers(lambda place, item: other(place, item) if place == 3 else NONSENSE),
        ChosenAnswers(repeated=23),
    ),
    "two texts by turns": (
        answers(lambda place, item: other(place, item) if place == 3 else (NONSENSE, NONSENSE[::-1])[place % 2]),
        ChosenAnswers(repeated=23),
    ),
    "other case and signs": (
        answers(lambda place, item: other(place, item) if place == 3 else f"{NONSENSE.upper()}{'!' * place}"),
        ChosenAnswers(repeated=23),
    ),
    "hardly anything": (
        answers(lambda place, item: other(place, item) if place < 4 else "." * (place % 3 + 1)),
        ChosenAnswers(repeated=20),
    ),
    "one short word": (
        answers(lambda place, item: other(place, item) if place < 4 else "x"),
        ChosenAnswers(repeated=20),
    ),
    "nonsense in one skill but once": (
        answers(lambda place, item: "x" if place < 7 else other(place, item)),
        ChosenAnswers(repeated=7, within="counting"),
    ),
    "a founder's but one": (
        changed(answers(wordy), {5}),
        ChosenAnswers(like="founder", same=23, changed=1),
    ),
    "our own but four": (changed(OWN, {1, 7, 12, 20}), ChosenAnswers(like="our first", same=20, changed=4)),
    "our own, and one of them left out": (
        {item: text for item, text in OWN.items() if item != ITEMS[9].digest},
        ChosenAnswers(like="our first", same=23, changed=1),
    ),
    # Batches of five are released while judging goes on: each tells the one of it that was changed.
    "our own, and one of each five changed": (
        changed(OWN, {0, 5, 10, 15, 20}),
        ChosenAnswers(like="our first", same=19, changed=5),
    ),
    "half ours, half a founder's, but four": (
        {one.digest: (OWN, answers(wordy), answers(other))[min(n // 10, 2)][one.digest] for n, one in enumerate(ITEMS)},
        ChosenAnswers(like="our first and 1 more file", same=20, changed=4),
    ),
    "in one skill a few of ours and a few of a founder's": (
        {
            **answers(other),
            **{one.digest: OWN[one.digest] for one in ITEMS[:2]},
            **{one.digest: answers(wordy)[one.digest] for one in ITEMS[2:4]},
        },
        ChosenAnswers(like="our first and 1 more file", same=4, changed=4, within="counting"),
    ),
    "new ones, but one skill is ours but one": (
        {**answers(other), **{one.digest: OWN[one.digest] for one in ITEMS[8:15]}},
        ChosenAnswers(like="our first", same=7, changed=1, within="reading"),
    ),
}


@pytest.mark.parametrize("shape", HONEST)
def test_an_honest_file_passes_without_a_word(shape: str):
    for met in (None, BY_LOT):
        assert chosen_answers(HONEST[shape], ITEMS, EARLIER, met=met) == ChosenAnswers()


@pytest.mark.parametrize("shape", TELLING)
def test_a_file_by_which_figures_would_tell_single_verdicts_is_found(shape: str):
    texts, found = TELLING[shape]
    assert chosen_answers(texts, ITEMS, EARLIER) == found


@pytest.mark.parametrize("met", [None, BY_LOT])
def test_the_very_same_answers_are_told_as_their_batches_may_be_others(met: Collection[str] | None):
    """Judged in other parts, or with items that waited, or met on others: sums of other items, so their differences
    are of few."""
    found = chosen_answers(OWN, ITEMS, EARLIER, met=met)
    assert found == ChosenAnswers(like="our first", same=24)


@pytest.mark.parametrize(
    "change",
    [lambda text: f"<!-- {text} -->", lambda text: f"{text}{'!' * 500}", lambda text: f"~~{text}~~", str.upper],
)
def test_one_answer_that_differs_in_signs_or_case_alone_is_told(change: Callable[[str], str]):
    texts = {**OWN, ITEMS[3].digest: change(OWN[ITEMS[3].digest])}
    assert chosen_answers(texts, ITEMS, EARLIER) == ChosenAnswers(like="our first", same=24)


def test_three_files_of_which_half_is_one_text_are_not_told_apart_by_it():
    """What is repeated is lost for certain, so it is not new: of the third nothing is, and the sums of all three would
    leave one verdict."""
    even = {one.digest for one in ITEMS[::2]}
    mine, others = answers(wordy), answers(other)
    first = {item: NONSENSE if item in even else text for item, text in mine.items()}
    second = {item: others[item] if item in even else text for item, text in mine.items()}
    second[ITEMS[11].digest] = f"{NONSENSE} Blue."
    third = {item: text if item in even else NONSENSE for item, text in others.items()}
    one, two = (EarlierAnswers(name=name, own=True, texts=texts) for name, texts in (("1", first), ("2", second)))
    assert chosen_answers(first, ITEMS, []).within == "counting"
    found = chosen_answers(third, ITEMS, [one, two])
    assert found == ChosenAnswers(like="2", same=12, repeated=12)


def test_of_answers_that_are_repeated_or_copied_five_others_are_needed():
    """In a part of its own, too; with five the file passes."""
    items = ITEMS[:8]
    texts = {one.digest: answers(other)[one.digest] for one in items}
    texts |= dict.fromkeys([one.digest for one in items[:3]], NONSENSE)
    assert chosen_answers(texts, items, []) == ChosenAnswers()
    copied = EarlierAnswers(name="first", own=True, texts={items[7].digest: texts[items[7].digest]})
    found = chosen_answers(texts, items, [copied])
    assert found == ChosenAnswers(like="first", same=1, repeated=3, changed=4)
    texts[items[3].digest] = NONSENSE
    assert chosen_answers(texts, items, []) == ChosenAnswers(repeated=4, changed=4)


def test_of_a_benchmark_that_holds_all_items_but_one_the_same_answers_tell_the_one():
    texts = {item: text for item, text in OWN.items() if item != ITEMS[-1].digest}
    other_benchmark = EarlierAnswers(name="there", own=True, texts=texts, elsewhere=1)
    assert chosen_answers(texts, ITEMS[:-1], [other_benchmark]).changed == 1


def test_a_short_answer_that_another_team_gave_too_is_no_copy_and_ones_own_is():
    texts = answers(lambda place, _: "BAC"[place % 3] if place else "D")
    terse = answers(lambda place, _: "BAC"[place % 3])
    of_others, ours = (EarlierAnswers(name="terse", own=own, texts=terse) for own in (False, True))
    assert chosen_answers(texts, ITEMS, [of_others]) == ChosenAnswers()
    assert chosen_answers(texts, ITEMS, [ours]).changed == 1


def test_items_with_several_images_are_a_part_for_themselves():
    items = tuple(
        Item(label=str(n), instruction=f"{n}?", reference="r", images=("a.png", "b.png")[: 1 + (n < 6)])
        for n in range(20)
    )
    texts = {one.digest: "x" if n < 5 else f"Something about it, number {n}." for n, one in enumerate(items)}
    found = chosen_answers(texts, items, [])
    assert found == ChosenAnswers(repeated=5, within="several images")


def test_the_reserve_of_a_ladder_is_a_part_for_itself():
    """Of which a sum is told when a file is published: there it is ours but for one answer."""
    reserved = [one.digest for one in ITEMS if one.label.endswith(("6", "7"))]
    texts = {**answers(other), **{item: OWN[item] for item in reserved[1:]}}
    assert chosen_answers(texts, ITEMS, EARLIER) == ChosenAnswers()
    found = chosen_answers(texts, ITEMS, EARLIER, reserved=reserved)
    assert found == ChosenAnswers(like="our first", same=5, changed=1, within="the reserve")


def test_answers_that_differ_in_vowels_alone_are_others_where_vowels_are_marks():
    """A boy and a girl in Hindi."""
    boys = answers(lambda place, _: f"चित्र में एक लड़का दौड़ रहा है, संख्या {place}")
    girls = {item: text.replace("का", "की").replace("रहा", "रही") for item, text in boys.items()}
    earlier = EarlierAnswers(name="boys", own=True, texts=boys)
    assert chosen_answers(girls, ITEMS, [earlier]) == ChosenAnswers()
    assert chosen_answers(boys, ITEMS, [earlier]).same == len(ITEMS)


def test_small_skills_are_released_together_so_they_are_a_part_together():
    skills = [("big", 10), ("a", 2), ("b", 2), (None, 2)]
    items = tuple(
        Item(label=f"{skill} {n}", instruction=f"{skill} {n}?", reference="r", category=skill)
        for skill, most in skills
        for n in range(most)
    )
    first = {one.digest: f"Behind it stands {THINGS[n]}." for n, one in enumerate(items)}
    nonsense = {item: text if n < 11 else NONSENSE for n, (item, text) in enumerate(first.items())}
    found = chosen_answers(nonsense, items, [])
    assert found == ChosenAnswers(repeated=5, within="a, b, no skill")
    copied = {item: f"I see {THINGS[20 - n]}." if n < 11 else text for n, (item, text) in enumerate(first.items())}
    earlier = EarlierAnswers(name="first", own=True, texts=first)
    found = chosen_answers(copied, items, [earlier])
    assert found == ChosenAnswers(like="first", same=5, changed=1, within="a, b, no skill")


def test_items_of_one_benchmark_alone_are_a_part_where_another_holds_the_rest():
    """As views of two benchmarks are cut."""
    cells = {one.digest: (None, False, frozenset({"x"} if n < 6 else {"x", "y"})) for n, one in enumerate(ITEMS)}
    texts = {one.digest: OWN[one.digest] if n in {0, 1} else answers(other)[one.digest] for n, one in enumerate(ITEMS)}
    assert chosen_answers(texts, ITEMS, EARLIER) == ChosenAnswers()
    found = chosen_answers(texts, ITEMS, EARLIER, cells=cells)
    assert (found.like, found.same, found.changed) == ("our first", 2, 4)


@pytest.mark.parametrize("founding", [False, True])
def test_a_text_is_no_answer_because_another_file_or_every_answer_of_a_founding_model_begins_so(founding: bool):
    texts = answers(lambda place, item: other(place, item) if place == 3 else "Sure")
    begins = answers(lambda place, _: f"Sure! In the picture is {THINGS[place]}.")
    if not founding:  # another team's, on half of the items
        begins = {item: text for n, (item, text) in enumerate(begins.items()) if n % 2}
        begins |= {item: text for item, text in OWN.items() if item not in begins}
    earlier = EarlierAnswers(name="pal", own=False, founding=founding, texts=begins)
    assert chosen_answers(texts, ITEMS, [earlier]) == ChosenAnswers(repeated=23)


def test_answers_in_a_script_without_spaces_are_copies_whatever_signs_part_them():
    words = "猫狗鸟鱼马牛羊鸡鸭鹅虎龙猴兔鼠蛇鹰鹿熊狼狐象蛙蜂"
    theirs = answers(lambda place, _: f"一只{words[place]}坐在窗台上晒太阳")
    parted = {item: text.replace("坐在", "坐，在") for item, text in theirs.items()}
    texts = {**parted, ITEMS[3].digest: "一辆红色的汽车停在路边"}
    founder = EarlierAnswers(name="founder", own=False, founding=True, texts=theirs)
    assert chosen_answers(texts, ITEMS, [founder]) == ChosenAnswers(like="founder", same=23, changed=1)


def test_openings_of_founding_answers_excuse_no_file_that_says_nothing_else():
    """Two models open half of their answers so, each the other half."""
    founders = [
        EarlierAnswers(
            name=name,
            own=False,
            founding=True,
            texts=answers(
                lambda place, item, n=n: f"{'Sure' if place % 2 == n else THINGS[place]}, {wordy(place, item)}"
            ),
        )
        for n, name in enumerate(("ann", "ben"))
    ]
    texts = answers(lambda place, item: other(place, item) if place == 3 else "Sure")
    assert chosen_answers(texts, ITEMS, founders) == ChosenAnswers(repeated=23)


@pytest.mark.parametrize("language", [("Ja", "Nein"), ("Да", "Нет"), ("はい", "いいえ"), ("Não", "Sim"), ("A", "B")])
def test_a_decision_at_the_beginning_of_a_founding_answer_is_one_in_other_languages_too(language: tuple[str, str]):
    founder = answers(lambda place, _: f"{language[place % 3 == 0]}, {THINGS[place]}.")
    earlier = EarlierAnswers(name="founder", own=False, founding=True, texts=founder)
    texts = answers(lambda place, _: language[place % 3 == 0])
    assert chosen_answers(texts, ITEMS, [earlier]) == ChosenAnswers()


def test_long_answers_that_are_there_once_in_each_skill_are_none_of_its_five_new_ones():
    skills = ("a", "b", "c", "d")
    items = tuple(
        Item(label=f"{skill}{n}", instruction=f"{skill} {n}?", reference="r", category=skill)
        for skill in skills
        for n in range(5)
    )
    nothing = [f"Nothing can be said here, as {THINGS[n]} would say." for n in range(4)]
    texts = {
        one.digest: nothing[n % 5] if one.category in ("a", "b") and n % 5 < 4 else f"Behind it stands {THINGS[n]}."
        for n, one in enumerate(items)
    }
    found = chosen_answers(texts, items, [])
    assert (found.repeated, found.within) == (4, "a")


@pytest.mark.parametrize(
    "change", [("e", "\u0435"), ("o", "\u03bf"), ("a", "\u00e1"), ("i", "i\u0323"), ("s", "\uff53")]
)
def test_letters_that_look_alike_and_accents_make_no_other_answer(change: tuple[str, str]):
    texts = {item: text.replace(*change) for item, text in OWN.items()}
    assert chosen_answers(texts, ITEMS, EARLIER) == ChosenAnswers(like="our first", same=24)


@pytest.mark.parametrize("change", [("T", "\u0422"), ("T", "\u03a4"), ("N", "\u039d"), ("Y", "\u03a5")])
def test_a_capital_may_look_like_a_letter_that_its_small_one_does_not_look_like(change: tuple[str, str]):
    """Of Greek and Cyrillic, where most answers begin with a capital."""
    texts = {item: text.upper().replace(*change) for item, text in OWN.items()}
    assert any(change[1] in text for text in texts.values())
    assert chosen_answers(texts, ITEMS, EARLIER) == ChosenAnswers(like="our first", same=24)


def test_a_file_like_a_founding_model_as_it_was_before_some_of_its_answers_were_replaced_is_most_of_one_model():
    """Half of what it says stands as ever: no version of what is on record has all that the file took."""
    before, now = answers(wordy), answers(lambda place, item: f"Now I see {wordy(place, item)}" if place % 2 else "")
    entries = [
        EarlierAnswers(name="founder", own=False, founding=True, texts={**before, **now}),
        EarlierAnswers(name="founder", own=False, founding=True, texts={item: before[item] for item in now}),
    ]
    texts = changed(before, {0, 5, 10, 15, 20})
    assert chosen_answers(texts, ITEMS, entries) == ChosenAnswers(like="founder", same=19, changed=5)


def test_of_the_items_on_which_a_file_meets_the_reference_five_are_new_in_each_batch():
    """Of the skill's eight two are an earlier file's, of the five that lots drew too."""
    drawn = {one.digest for one in (*ITEMS[:5], *ITEMS[8:])}
    texts = {**answers(other), **{one.digest: OWN[one.digest] for one in ITEMS[:2]}}
    assert chosen_answers(texts, ITEMS, EARLIER) == ChosenAnswers()
    found = chosen_answers(texts, ITEMS, EARLIER, met=drawn)
    assert (found.like, found.same, found.changed, found.within) == ("our first", 2, 3, "counting")
    drawn = {one.digest for one in (*ITEMS[2:7], *ITEMS[8:])}
    assert chosen_answers(texts, ITEMS, EARLIER, met=drawn) == ChosenAnswers()


def test_what_is_answered_to_another_item_that_asks_the_same_is_a_copy_unless_it_is_short():
    letters, others = (answers(lambda place, _, of=of: of[place % 3]) for of in ("BAC", "ACB"))
    alike = dict.fromkeys(letters, frozenset("ABC"))
    earlier = EarlierAnswers(name="our letters", own=True, texts=letters, also=alike)
    assert chosen_answers(others, ITEMS, [earlier]) == ChosenAnswers()
    turned = dict(zip(OWN, [*list(OWN.values())[1:], OWN[ITEMS[0].digest]], strict=True))
    long = replace(EARLIER[1], also=dict.fromkeys(OWN, frozenset(OWN.values())))
    assert chosen_answers(turned, ITEMS, EARLIER) == ChosenAnswers()
    assert chosen_answers(turned, ITEMS, [long]) == ChosenAnswers(like="our first", same=24)


def test_a_short_text_that_is_most_of_what_meets_the_reference_is_told_though_it_is_little_of_each_batch():
    """Four of the eight of each skill; lots drew one other of each."""
    short = {item for places in (range(4), range(8, 12), range(16, 20)) for item in (ITEMS[n].digest for n in places)}
    texts = {item: "Nothing." if item in short else text for item, text in answers(other).items()}
    met = short | {ITEMS[place].digest for place in (4, 12, 20)}
    assert chosen_answers(texts, ITEMS, []) == ChosenAnswers()
    assert chosen_answers(texts, ITEMS, [], met=met) == ChosenAnswers(repeated=12, within=DRAWN)


@pytest.mark.parametrize("yes", [12, 18, 21])
def test_a_copy_of_another_teams_file_is_told_though_most_answers_are_short(yes: int):
    """Which a founding model gives too: beside longer ones that are copied they are no accident."""

    def file(who: str) -> dict[str, str]:
        return answers(lambda place, item: "Yes" if place < yes else f"{who} says {THINGS[place]} of {item.label}")

    theirs = EarlierAnswers(name="theirs", own=False, texts=file("They"))
    founder = EarlierAnswers(name="founder", own=False, founding=True, texts=file("The founder"))
    copy = changed(theirs.texts, {23})
    assert chosen_answers(copy, ITEMS, [founder, theirs]) == ChosenAnswers(like="theirs", same=23, changed=1)
    assert chosen_answers(file("We"), ITEMS, [founder, theirs]) == ChosenAnswers()


def test_what_a_founding_model_says_to_most_items_excuses_nobody_unless_it_is_a_decision():
    for text, found in (("Nothing", ChosenAnswers(repeated=16)), ("No", ChosenAnswers())):
        texts = answers(lambda place, item, text=text: text if place % 3 else other(place, item))
        founder = EarlierAnswers(
            name="founder",
            own=False,
            founding=True,
            texts={item: said for item, said in texts.items() if said == text}
            | {item: OWN[item] for item, said in texts.items() if said != text},
        )
        assert chosen_answers(texts, ITEMS, [founder]) == found


FIGURES = {
    "a tenth as before": [0, 5, 32],
    "three tenths as before": [1, 34, 40],
    "5 % as a founding model": [0, 4, 17],
    "two equal refusals": [0, 2, 8],
}
"""Of 40 files on 60 items without skills, with four of them, and with ten."""
REFUSAL = "I'm sorry, but I cannot help with this picture."


def at_length(chance: Random) -> str:
    return " ".join(f"word{chance.randrange(20)}" for _ in range(14))


def made_file(kind: str, ids: list[str], chance: Random) -> tuple[dict[str, str], EarlierAnswers | None]:
    """And the one before it: of its own team, or of a founding model."""
    texts = {item: at_length(chance) for item in ids}
    if kind == "two equal refusals":
        return texts | dict.fromkeys(chance.sample(ids, 2), REFUSAL), None
    share = {"a tenth as before": 0.1, "three tenths as before": 0.3, "5 % as a founding model": 0.05}[kind]
    before = {item: text if chance.random() < share else at_length(chance) for item, text in texts.items()}
    founding = kind.endswith("founding model")
    return texts, EarlierAnswers(name="before", own=not founding, founding=founding, texts=before)


@pytest.mark.parametrize("kind", FIGURES)
def test_how_often_an_honest_file_is_told_is_as_the_guide_says(kind: str):
    found: list[int] = []
    for skills in (0, 4, 10):
        items = [
            Item(label=str(n), instruction=f"{n}?", reference="r", category=f"s{n % skills}" if skills else None)
            for n in range(60)
        ]
        ids = [one.digest for one in items]
        times = 0
        for seed in range(40):
            chance = Random(seed)
            texts, before = made_file(kind, ids, chance)
            said = chosen_answers(texts, items, [before] if before else [], met=chance.sample(ids, 30))
            times += said != ChosenAnswers()
        found.append(times)
    assert found == FIGURES[kind]


def short_file(who: str, ids: list[str], longer: int, chance: Random) -> dict[str, str]:
    """Three in four of the short ones are right, and so the same in every file; one in ten of the longer ones."""

    def say(place: int) -> str:
        if place < longer:
            return f"{'There' if chance.random() < 0.1 else who} stands {THINGS[place]}, number {place}"
        return (
            ["yes", "no", "two", "red", "B", "left"][place % 6]
            if chance.random() < 0.75
            else f"w{chance.randrange(10**6)}"
        )

    return {item: say(place) for place, item in enumerate(ids)}


@pytest.mark.parametrize("founding", [False, True])
@pytest.mark.parametrize(("longer", "honest", "copies"), [(0, 0, 0), (1, 0, 0), (2, 0, 35), (4, 0, 40), (8, 1, 40)])
def test_honest_files_of_short_answers_are_the_same_by_themselves_and_copies_of_them_are_told(
    longer: int, honest: int, copies: int, founding: bool
):
    """Of 40 files each, beside those of five others, teams or founding models, of 60 answers with few longer ones: a
    copy has two of its own."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(60)]
    ids = [one.digest for one in items]
    found = [0, 0]
    for seed in range(40):
        chance = Random(seed)
        theirs = [
            EarlierAnswers(
                name=f"team {n}", own=False, founding=founding, texts=short_file(f"Team {n}", ids, longer, chance)
            )
            for n in range(5)
        ]
        mine = short_file("Ours", ids, longer, chance)
        copy = {**theirs[0].texts, **{one: f"What we alone have to say of it: {one}" for one in chance.sample(ids, 2)}}
        for place, texts in enumerate((mine, copy)):
            found[place] += chosen_answers(texts, items, theirs) != ChosenAnswers()
    assert found == [honest, copies]
