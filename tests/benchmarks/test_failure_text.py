"""Another tool's failure message is told from an answer that mentions one."""

import pytest

from evenhand.benchmarks.answers.failure_text import is_failure_text


@pytest.mark.parametrize(
    "text",
    [
        "Failed to obtain answer via API. ",
        "Failed to obtain answer via API.\nHTTPSConnectionPool: Max retries exceeded",
        "$ERROR$",
        "$MODERATION$ YOUR INPUT VIOLATES OUR CONTENT MODERATION GUIDELINES.",
        "**NETWORK ERROR DUE TO HIGH TRAFFIC. PLEASE REGENERATE OR REFRESH THIS PAGE.**",
        "API Error",
        "API_ERROR",
        "**API error**",
        "API error: 503 service unavailable",
        "Request failed",
        "Request failed with status code 500",
        "Request timed out.",
        "Connection error.",
        "<error>",
        "[ERROR]",
        "[no response]",
        "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
        '{"error": {"message": "overloaded"}}',
        "Rate limit exceeded.",
        "None",
        "nan",
        "NaN",
        "null",
        "<NA>",
        "  None\n",
    ],
)
def test_a_whole_text_that_is_a_failure_message_is_no_answer(text: str):
    assert is_failure_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None.",
        "none",
        "None of the apples is green.",
        "undefined",
        "0",
        "Null Island lies at 0°N 0°E.",
        'The screenshot shows the message "API Error" above a retry button.',
        "The window says: Request failed. Click to try again.",
        "Error: the sign is upside down.",
        "Connection error: the page in the picture could not load.",
        "The label reads $ERROR$.",
        "I failed to obtain answer keys from the sheet.",
        "API errors happen when a client is too fast; the sign tells people to slow down.",
        "Request failed. " + "The rest of a long essay on a picture of a broken vending machine. " * 10,
        "Failed to obtain answer via API. " + "x" * 500,
    ],
)
def test_an_answer_that_mentions_a_failure_is_an_answer(text: str):
    assert not is_failure_text(text)
