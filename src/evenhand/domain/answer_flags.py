"""What the flags of an answer may say of how it came about."""

from typing import Final

TRUNCATED: Final = "truncated"
REFUSED: Final = "refused"
"""Cut at the token limit; a refusal by the endpoint's own word."""
ASKED_WITH: Final = "asked with "
"""How a flag begins that says what was set otherwise than the paper does, and how images were sent where that was
chosen."""
ADAPTED: Final = "adapted: "
"""How a flag begins that says which of the default settings the endpoint refused."""
QUERIED_BY: Final = "query-specific part by "
"""How a flag begins that says which model wrote what to look at, where it is not the one that describes the images."""
SAID_BY: Final = "said by "
"""How a flag begins that says which model it was, where the name on record does not."""
