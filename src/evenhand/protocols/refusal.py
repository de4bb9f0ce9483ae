"""Whether a reply that holds no decision is a refusal in plain words, as of providers that have no field for one."""

import re

LONGEST = 600
"""Characters; a longer reply has argued, whatever it began with."""

_SORRY = (
    r"(?:(?:I(?:'m| am)|we(?:'re| are))\s+(?:(?:very|really|so|truly|terribly)\s+)?(?:sorry|afraid)|sorry|"
    r"(?:I|we)\s+(?:must\s+|do\s+)?apologi[sz]e|(?:my|our)\s+apologies|apologies|unfortunately|regrettably)\b"
    r"(?:\s+(?:that|for (?:the|any) \w+))?[\s,.!:;-]*(?:(?:but|however|and)\b[\s,]*)?"
)
_AS_AN_AI = r"(?:as an? (?:AI|artificial intelligence|(?:large )?language model)\b[^.,\n]{0,60}[,\s]+)?"
_CANNOT = (
    r"(?:I|we)(?:\s+(?:just|simply|really))?\s*(?:\s(?:can't|cannot|can not|could not|couldn't|won't|will not|"
    r"must decline to|(?:must )?refuse to|have to decline to|decline to|do not feel able to|"
    r"(?:am|are) (?:unable to|not able to|not allowed to|not permitted to|not comfortable))|"
    r"'(?:m|re) (?:unable to|not able to|not allowed to|not permitted to|not comfortable))"
)
_TO_JUDGE = (
    r"\s+(?:(?:help|assist)(?:ing)?(?: you)?(?=\s*(?:[.,;!\n]|$|(?:with|in|here|by|to|evaluate|compare|judge)\b))|"
    r"(?:judge|judging|evaluate|evaluating|compare|comparing|rate|rating|grade|grading|score|scoring|rank|ranking|"
    r"assess|assessing|comply|complying|continue|fulfil+|engage|engaging|participate|proceed|discuss|process|"
    r"(?:provide|providing|give|giving|offer|make|making|perform|complete)\s+(?:an?|any|this|that|the|my|such|you)\b|"
    r"answer (?:this|that|the)|respond to|do (?:this|that|so)|support this|view|access|see (?:the|any|an?|these|this))"
    r"\b)"
)
_REFUSAL = re.compile(rf"\W{{0,3}}(?:{_SORRY})?{_AS_AN_AI}{_CANNOT}{_TO_JUDGE}", re.IGNORECASE)
_QUOTED = re.compile(r"\s*[\"“”'‘’«»„`>|]")
_REFUSAL_IN_CHINESE = re.compile(r"\s*(?:非常|很|十分)?(?:抱歉|对不起|對不起)[，,。！! ]*(?:但)?我?(?:无法|無法|不能)")
_WHICH = re.compile(r"\b(?:which|what|whether|who)\b[^.;!?\n]*", re.IGNORECASE)
_PREFERS = re.compile(
    r"\b(?:better|best|worse|worst|stronger|superior|inferior|prefer\w*|winner|wins?|tied?|equal\w*|favou?r|"
    r"more accurate|go with|choose|pick|verdict)\b|更好|较好|平局",
    re.IGNORECASE,
)


def refuses(reply: str) -> bool:
    """Only a short reply that begins with a refusal, and prefers nothing after it; `reply` is without Markdown."""
    if len(reply) > LONGEST or _QUOTED.match(reply):
        return False
    text = reply.replace("’", "'")
    found = _REFUSAL.match(text) or _REFUSAL_IN_CHINESE.match(text)
    return found is not None and not _PREFERS.search(_WHICH.sub("", text[found.end() :]))
