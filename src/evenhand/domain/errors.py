"""The root of the errors that are sentences for the user, and why a model gave no reply."""

from evenhand.domain.call import Usage
from evenhand.domain.verdict import CallFailed


class EvenhandError(Exception):
    """What was asked cannot be done as asked; the message is a sentence for the user.

    `except eh.EvenhandError` takes all of them.
    """


class CallFailure(EvenhandError):
    """No reply to this request. `transient`: the same request may go through later."""

    def __init__(
        self,
        message: str,
        *,
        reason: CallFailed,
        transient: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        usage: Usage | None = None,
        unheard: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason: CallFailed = reason
        self.transient = transient
        self.retry_after = retry_after
        """Seconds the endpoint asked us to wait."""
        self.status = status
        self.usage = usage
        """Tokens billed for a reply that was of no use; None where the endpoint did not say."""
        self.maybe_billed = unheard or status == 200 or usage is not None
        """`unheard`: the request went out, and what became of it nobody knows."""
        self.requests = 1
        """HTTP requests made before giving up."""


class Misuse(EvenhandError):
    """A wrong key, model, address or setting: every further call would fail alike, so the run stops. A sentence."""

    usage: Usage | None = None
    """Tokens billed for the reply that showed it."""
