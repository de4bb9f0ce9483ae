"""Answers that a file of judgements brings itself: the texts that were compared stand in its rows."""

from evenhand.benchmarks.data_error import RESERVED, TWICE, FilePlace
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response, is_reference


class BroughtAnswers:
    """The answer of each model to each item met so far."""

    def __init__(self, variant: str) -> None:
        self._variant = variant
        self._found: dict[tuple[str, str], tuple[Response, FilePlace]] = {}

    @property
    def responses(self) -> tuple[Response, ...]:
        """Without the references, which are the benchmark's own."""
        return tuple(response for response, _ in self._found.values())

    def take(self, reader: FieldReader, item: Item | None, *, model: str, text: str) -> Response | None:
        """`model` and `text` are names of columns. None, and a fault, where they hold no answer that fits."""
        # An empty answer that lost to another was judged too.
        name, words = reader.label((model,)), reader.answer((text,))
        if reader.faulty or item is None:
            return None
        if is_reference(name):
            if words != item.reference:
                reader.fault(
                    f"The model name `{name}` is reserved, and `{text}` is not the item's reference.", code=RESERVED
                )
                return None
            return Response(item=item.digest, model=REFERENCE, text=words)
        response = Response(item=item.digest, model=name, text=words, variant=self._variant)
        before, place = self._found.setdefault((item.digest, name), (response, reader.row.place))
        if before != response:
            where = place.seen_from(reader.row.place)
            sentence = f"`{name}` answers this item with another text than in {where}; keep one of the two."
            reader.fault(sentence, code=TWICE)
        return response
