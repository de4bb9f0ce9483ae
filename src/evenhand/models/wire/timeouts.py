"""How long an endpoint is waited for. Apart from the transport, so that setting it loads no HTTP library."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds."""

    total: float = 600.0
    connect: float = 15.0
