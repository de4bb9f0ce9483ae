"""Trying again: only what a wait can cure, a little later each time, and not for ever."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from evenhand.domain.call import Reply
from evenhand.domain.errors import CallFailure, EvenhandError
from evenhand.engine.run.limits import Places


class LongPause(EvenhandError):
    """The endpoint asks for a longer pause than a run waits for."""

    code = "EH-LONG-PAUSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    retries: int = 6
    first_wait: float = 0.5
    longest_wait: float = 60.0
    longest_obeyed: float = 600.0
    """A Retry-After beyond this many seconds is not waited for: the run ends and goes on another time."""

    unheard_retries: int = 2
    """Retries of a call to which nothing in HTTP came, or a 200 that no model writes, while no reply has ever come."""

    def wait(self, failure: CallFailure, tries: int, *, heard: bool) -> float | None:
        """Seconds to wait before the next try, or None to give up."""
        # A wrong address refuses connections or serves web pages; waiting long would only hide that.
        somebody = heard or failure.status not in (None, 200)
        allowed = self.retries if somebody else min(self.retries, self.unheard_retries)
        if not failure.transient or tries > allowed:
            return None
        asked = failure.retry_after or 0.0
        # Full jitter: calls that failed together do not come back together.
        # Room comes back more slowly than a limit of calls a minute lets go.
        step = tries + 1 if failure.no_room else tries - 1
        backoff = random.random() * min(self.longest_wait, self.first_wait * 2**step)
        return asked + backoff


async def with_retries(
    call: Callable[[], Awaitable[Reply]], *, rule: RetryRule, concurrency: Places, heard: Callable[[], bool]
) -> Reply:
    """The reply, with the number of requests it took; raises the last CallFailure with `requests` set likewise.

    Raises LongPause where the endpoint closes for longer than the rule waits.
    """
    tries = 0
    while True:
        tries += 1
        try:
            reply = await call()
        except CallFailure as failure:
            failure.requests = tries
            if failure.retry_after is not None and failure.retry_after > rule.longest_obeyed:
                # Of its own code, not of the failure's, which a wait could cure.
                raise LongPause(f"{failure} It asks for a pause of {failure.retry_after:.0f} s.") from None
            _tell(concurrency, failure)
            wait = rule.wait(failure, tries, heard=heard())
            if wait is None:
                raise
            await asyncio.sleep(wait)
        else:
            concurrency.succeeded()
            return reply if tries == 1 else replace(reply, requests=reply.requests + tries - 1)


def _tell(concurrency: Places, failure: CallFailure) -> None:
    if failure.no_room:
        concurrency.server_failed()
    elif failure.status == 429:
        concurrency.throttled(failure.retry_after)
    elif failure.status is not None and failure.status >= 500:
        concurrency.server_failed()
