"""Prompt files are filled in one pass, by exactly the names they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.prompts import Template, TemplateError
from tests.refusals import refused

any_text = st.text(st.characters(), max_size=60) | st.sampled_from(["{{b}}", "{{{{", "{{", "}}", "{{a}}", "{", "\x00"])


def test_each_slot_is_replaced_wherever_it_stands():
    template = Template.parse("{{a}} and {{b}} and {{a}}", source="x.md")
    assert template.fill({"a": "1", "b": "2"}) == "1 and 2 and 1"
    assert template.slots == {"a", "b"}


@given(first=any_text, second=any_text)
def test_what_fills_a_slot_is_never_read_as_a_slot(first: str, second: str):
    template = Template.parse("<{{a}}|{{b}}>", source="x.md")
    assert template.fill({"a": first, "b": second}) == f"<{first}|{second}>"


def test_a_literal_pair_of_braces_is_written_twice():
    template = Template.parse("{{{{name}} is a slot, {{name}} is filled, }} and { stay", source="x.md")
    assert template.fill({"name": "this"}) == "{{name}} is a slot, this is filled, }} and { stay"
    assert template.slots == {"name"}


def test_a_file_without_slots_is_its_own_text():
    assert Template.parse("Hello.\n", source="x.md").fill({}) == "Hello.\n"


@pytest.mark.parametrize("given_names", [{}, {"a": "1"}, {"a": "1", "b": "2", "c": "3"}, {"a": "1", "c": "3"}])
def test_other_names_than_the_file_holds_are_refused(given_names: dict[str, str]):
    template = Template.parse("{{a}}{{b}}", source="task.md")
    with refused(TemplateError, "task.md", "a, b") as found:
        template.fill(given_names)
    assert str(found.value).endswith(f"{', '.join(sorted(given_names)) or 'nothing'}.")


@pytest.mark.parametrize(
    "text", ["{{", "{{Name}}", "{{ name }}", "{{name", "{{a-b}}", "{{}}", "{{1}}", "x\n{{{name}}}"]
)
def test_braces_that_open_no_slot_are_an_error_with_file_and_line(text: str):
    with refused(TemplateError, "task.md", f"line {text.count(chr(10)) + 1}", "{{"):
        Template.parse(text, source="task.md")
