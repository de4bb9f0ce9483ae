"""Texts that other tools write into a response column when no model answered."""

import re

_LONGEST = 400

# What str() and data frames make of a missing value. "None." and "none" are answers a model gives.
_MISSING = frozenset({"None", "nan", "NaN", "null", "NULL", "<NA>", "NaT"})

# One expression, for a file may hold hundreds of thousands of answers.
_FAILURE = re.compile(
    "|".join(
        (
            r"failed to obtain answer\b.*",  # VLMEvalKit's fail message, with or without the cause behind it
            r"\$error\$",  # FastChat and MT-bench
            r"\$moderation\$.*",
            r"\*\*network error due to high traffic\b.*",
            r"[<\[(]\s*(api[ _-]?)?(error|failed|failure|no response|no answer)\s*[>\])]\s*",
            r"\W*(api|connection|request|openai|anthropic)[ _-]?error\W*",
            r"\W*(api|request|openai|anthropic)[ _-]?error\s*[:(].*",
            r"(the )?(api )?(request|api call|connection) (has )?(failed|timed out|was aborted)\W*",
            r"(the )?(api )?(request|api call|connection) failed\s*(:|with|after\b|due to\b).*",
            r"error code: [45]\d\d\b.*",  # the OpenAI library's exceptions as text
            r"error: (the )?(api|request|connection|model) (call )?(failed|error|timed out|timeout)\b.*",
            r"\{\s*[\"']error[\"']\s*:.*\}",
            r"(no response|no answer) (was )?(returned|received|obtained) (by|from) (the )?(api|model|server)\W*",
            r"(api )?(rate limit|max retries|quota) (was )?(exceeded|reached)\W*",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)


def is_failure_text(text: str) -> bool:
    """True where the whole of a short text is such a message; a real answer that mentions one is an answer."""
    whole = text.strip()
    if len(whole) > _LONGEST:
        return False
    return whole in _MISSING or _FAILURE.fullmatch(whole) is not None
