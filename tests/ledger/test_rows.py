"""Claims about rows: what is read back is what was written."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.call import Message, Offer, Picture, Request
from evenhand.domain.rater import Settings
from evenhand.ledger.rows import request_from

words = st.text(max_size=20)
pictures = st.builds(
    Picture, digest=words, detail=st.none() | words, max_edge=st.none() | st.integers(min_value=1, max_value=9999)
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant"]),
    parts=st.lists(words | pictures, max_size=3).map(tuple),
)
settings = st.builds(
    Settings,
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 9999),
    stop=st.lists(words, max_size=2).map(tuple),
    extra_body=st.none() | st.dictionaries(words, st.integers() | words, max_size=2),
)
offers = st.builds(Offer, begin=words, answers=st.lists(words, min_size=2, max_size=3).map(tuple))
requests = st.builds(
    Request,
    endpoint=words,
    model=words,
    messages=st.lists(messages, max_size=3).map(tuple),
    settings=settings,
    offer=st.none() | offers,
    replicate=st.integers(0, 3),
    attempt=st.integers(0, 3),
)


@given(requests)
def test_a_request_on_record_comes_back_as_it_was_asked(request: Request) -> None:
    found = request_from(request.canonical)
    assert found.key == request.key
    assert found == request
