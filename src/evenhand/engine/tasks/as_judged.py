"""How a judge on record was asked, so that it can be asked in the same way again."""

from dataclasses import dataclass

from evenhand.domain.errors import Misuse
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Condition
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Showing
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol, ProtocolError


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """How the two models are called at their endpoints; the empty names do where nobody is asked."""

    judge: str = ""
    extractor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsJudged:
    """A judge of a benchmark as the record has it."""

    benchmark: str
    rater: Rater
    condition: Condition
    extractor: Rater | None
    """Who finds the decision in a reply that has no readable one; None where nobody does."""

    def protocol(self, named: str | None = None) -> Protocol:
        """`named`: its name or folder, where the user gave one. Raises Misuse where it is not there any more."""
        try:
            return load_protocol(named or self.condition.protocol)
        except ProtocolError as error:
            raise Misuse(
                f"The board of {self.benchmark} is judged under the protocol {self.condition.protocol}. {error}"
            ) from error

    def showing(self, protocol: Protocol, spoken: Spoken, *, otherwise: str) -> Showing:
        """Raises Misuse where the protocol's words are others by now; `otherwise` is what to do then."""
        condition = self.condition
        showing = Showing(
            protocol=protocol,
            readout=condition.readout,
            see=condition.see,
            fenced=condition.fenced,
            image_detail=condition.image_detail,
            max_image_edge=condition.max_image_edge,
            extractor=Extractor(rater=self.extractor, model=spoken.extractor) if self.extractor else None,
        )
        if showing.condition(showing.extraction(self.rater, spoken.judge)).key != condition.key:
            raise Misuse(
                f"The words of the protocol {condition.protocol} are not those that the board of {self.benchmark} was "
                f"judged with; {otherwise}.",
                code="EH-PROTOCOL-CHANGED",
            )
        return showing
