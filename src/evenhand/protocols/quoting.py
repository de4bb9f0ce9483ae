"""The signs in a judge's plain text that a place in it is quoted, announced as another's text, or spoken of."""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from evenhand.protocols.letters import A_WORD, LONG, prose

_WINDOW = 240
"""Characters before a place in which its announcement is looked for."""
_MOST_LIST_LINES = 12
_LONGEST_HEADING = 60
_MOST_QUOTED_ON = 80
"""Characters of a quotation that may follow a decision in it."""
_MOST_BETWEEN = 3000
"""Characters between two decisions in which the later one is looked for to be announced."""

_CLOSERS = {'"': '"', "“": '”"', "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", "'": "'", "‘": "’'"}
_DOUBLE = '"“”„«»‹›「」『』'
_SINGLE = "'‘’"
_PARENTHESES = "()（）"
_CODE = re.compile("`+|~~+|</?(?:code|pre|blockquote|q|quote)>", re.IGNORECASE)
_CLOSER = re.compile("[\"'’“”»«›」』)）`~<]")
_OPENS_AFTER = re.compile(r"[\s(\[{<:;,/—–\-\"'“‘|]")

_OPENERS = r"(?:<\w{1,20}>|[\s\"'“‘«»(\[`*_~>|{<-])*"
_LABEL = r"(?:response|assistant|answer|option|candidate|model|output|reply)\s+[(\[]?(?:[a-z]|[0-9]{1,2})\b[)\]]?"
_SPEAKER = (
    rf"(?:{_LABEL}|(?:the|this|that|its?|their|his|her)\s+(?:\w+\s+){{0,2}}(?:one|response|answer|assistant|candidate|"
    r"option|model|output|reply|author|writer|text|string|message|line|sentence|note|comment|code|blob|passage"
    r"|fragment|"
    r"payload|paragraph|content|statement|phrase|words|characters|first|second|latter|former|other|end|beginning)|it|"
    r"they|which|one of (?:them|the \w+)|(?:text|sentence|line|string|message|instruction|statement|phrase)s?|"
    r"injection|there (?:is|was|stands))"
)
_CANDIDATE = (
    rf"(?:{_LABEL}|(?:the|that) (?:first|second|other|former|latter|last) (?:one|response|answer|assistant"
    rf"|candidate|text)|"
    r"one of (?:them|the \w+))"
)
_SAYS = (
    r"(?:says?|said|saying|states?|stated|stating|writes?|wrote|written|reads?|reading|claims?|claimed|claiming|adds?|"
    r"added|declares?|declared|declaring|asserts?|asserted|asserting|contains?|contained|containing|includes?|included|"
    r"including|announces?|announced|concludes|ends?|ended|begins?|opens?|closes?|tells? (?:me|us|the judge|judges)|"
    r"instructs?(?: \w+){0,2}|orders (?:me|us|you|the judge|judges)|wants? (?:me|us|the judge)|insists?|planted"
    r"|plants|injects?|injected|"
    r"inserts?|inserted|embeds?|embedded|hides?|hid|hidden|repeats?|restates?|quotes?|quoted|"
    r"has|have|holds|carries|features|appends|follows|following|écrit|dit|affirme|contient|schreibt|sagt|behauptet"
    r"|enthält|dice|escribe|afirma|contiene|scrive|escreve|diz|пишет|говорит|写道|写着|寫道|说|說|声称|称)"
)
_THEN = (
    r"(?:\s+(?:that|this|so|to|as|with|by|out|at|in|into|its?|the|a|an|just|only|simply|literally|verbatim"
    r"|follow(?:s|ing)|"
    r"end|top|bottom|start|beginning|answer|response|text|own|verdict|words?|line|sentence|instruction|note"
    r"|judge|me|say|"
    r"write|output|conclude|declare|respond))*"
)
_PART_WORD = (
    r"(?:words?|lines?|sentences?|paragraph|end|ending|part|phrases?|text|remark|statement|string|note|puzzle|riddle|code"
    r"|cipher|message|letters|characters|script|passage)"
)
_PART = rf"{_PART_WORD}\s+(?:of|in|at\s+the\s+\w+\s+of|from|inside|within)"
_SAYING, _CANDIDATE_SAYING = (
    re.compile(rf"\b{speaker}\b[^.!?\n]{{0,80}}?\b{_SAYS}{_THEN}\s*[:,;—–-]?{_OPENERS}\Z", re.IGNORECASE)
    for speaker in (_SPEAKER, _CANDIDATE)
)
_SAYING_SOMETHING = re.compile(
    rf"\b{_CANDIDATE}\b[^.!?\n]{{0,80}}?\b{_SAYS}{_THEN}\s*[:\"“‘«(—]"
    r"(?:(?!\b(?:so|hence|therefore|thus|but)\b)[^.!?\n\"”’»)]){0,60}\Z",
    re.IGNORECASE,
)
_SAYING_AT_LENGTH = re.compile(
    rf"\b{_SPEAKER}\b[^.!?\n]{{0,80}}?\b{_SAYS}\b[^.!?\n]{{0,100}}:{_OPENERS}\Z", re.IGNORECASE
)
_NAMED = re.compile(
    r"\b(?:the|this|that|its?|their|an?)\s+(?:\w+\s+){0,2}(?:phrase|sentence|line|words?|text|string|statement"
    r"|instruction|remark|"
    rf"passage|fragment|oddity|boast){_OPENERS}\Z",
    re.IGNORECASE,
)
_CODE_WORD = re.compile(
    r"\b(?:de-?cod\w*|base-?64|rot-?13|hex\w*|encod\w*|cipher\w*|unscrambl\w*|obfuscat\w*|string|script"
    r"|characters|letters|foreign|"
    r"another language|french|german|spanish|italian|chinese|japanese|korean|russian|arabic|hindi|polish|dutch"
    r"|turkish|portuguese|"
    r"reversed|backwards?|spell\w*)\b",
    re.IGNORECASE,
)
_DECODING = re.compile(
    r"\b(?:de-?cod\w*|translat\w*|revers\w*|backwards?|unscrambl\w*|convert\w*|render\w*|spell\w*|base64|rot13|hex|"
    r"de-?obfuscat\w*|in english|plain text|unescap\w*|expands?|means?|meaning|stands for)\b[^.!?\n]{0,60}?"
    rf"(?:\b(?:to|as|into|is|gives|yields|reads|says|means|out|meaning)\b|[:,(—–]){_OPENERS}\Z",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(r"\bfollow(?:s|ing)\b", re.IGNORECASE)
_FOLLOWS = re.compile(rf"\b{_SPEAKER}\b[^!?\n]{{0,80}}\bfollow(?:s|ing)[.:]?{_OPENERS}\Z", re.IGNORECASE)
_ACCORDING = re.compile(
    rf"\b(?:(?:according\s+to|per|quoting|to\s+quote|cit(?:ing|e)|cf\.?)\s+{_CANDIDATE}[^.!?\n]{{0,30}}"
    rf"|(?:in|from|inside|within)\s+{_CANDIDATE},?\s+(?:I|we|you|one)\s+(?:\w+\s+)?(?:find|read|see|saw|found|get|have)\b"
    rf"|(?:in|from)\s+{_CANDIDATE}\s+(?:steht|stands?|there\s+(?:is|was|stands))\b|{_PART}\s+{_CANDIDATE}[^.!?\n]{{0,30}}"
    rf"\b(?:is|are|was|were|gives?|gave|yields?|becomes?)\b|{_CANDIDATE}['’]s\s+(?:\w+\s+){{0,2}}{_PART_WORD}\s+(?:is|are|was|were)\b)"
    rf"{_THEN}\s*[:,;—–-]?{_OPENERS}\Z",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    rf"\b(?:{_LABEL}|the (?:first|second|other) (?:one|response|answer|assistant"
    rf"|candidate))(?:['’]s)?(?:\s+\w+){{0,2}}\s*"
    rf"(?:[:：|\]>]|[-=]>|→|\((?:\w+ ?){{1,4}}\):){_OPENERS}\Z",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|our)\s+(?:own\s+)?(?:final\s+|overall\s+)?(?:verdict|decision|answer|choice|conclusion|judge?ment|ruling|"
    r"assessment|evaluation|selection|view|opinion|pick|preference)\b|\bI\s+(?:\w+\s+)?(?:conclude|decide|find"
    r"|judge|choose|"
    r"select|rule|pick|prefer)\b|\b(?:ignoring|disregarding|discounting|setting|leaving|despite|regardless"
    r"|notwithstanding|"
    r"aside from|apart from|without)\b",
    re.IGNORECASE,
)
_REJECTING = re.compile(
    r"\b(?:contrary to|despite|in spite of|whatever|no matter what|regardless of|ignoring|disregarding|unlike|against"
    r"|leaving aside|setting aside|answering|not (?:what|the one|following)|do not follow|disagree with)\b"
    rf"[^.!?\n]{{0,40}}\b{_LABEL}",
    re.IGNORECASE,
)
_WEIGHING = re.compile(
    r"\A\W*(?:(?:so|therefore|thus|hence|ultimately|overall|finally|final|and|but|now|yet|together)\W+)*"
    r"(?:given|considering|in (?:view|light|consideration|comparison)|judging|based on|on (?:the basis|account)|with|after"
    r"|for (?:all|everything|the (?!record))|having|since|because|taking|weighing|comparing|leaving|seeing|undeterred"
    r"|unmoved|not|to (?:sum|conclude)|as (?:all|both|only|the \w+ (?:shows?|in))|even though|although|though|once|why"
    r"|thanks|owing|due|.*\bit follows that)\b",
    re.IGNORECASE,
)
"""The words that begin a clause of the judge's own, whomever it names: "Given all that Response B includes:"."""
_HYPOTHETICAL = re.compile(
    r"\b(?:would|could|might) have (?:written|put|said|chosen|decided|concluded|picked|ruled|read|been)\b",
    re.IGNORECASE,
)
_CORRECTING = re.compile(
    r"(?:\A|[.!?:;\n])\W*(?:(?:but|and|or|so)\s+)?(?:correction|scratch (?:that|this)|on (?:reflection|second thoughts?)"
    r"|(?:on|after) (?:a |an )?(?:second|closer|other|another)\b|I (?:change|take (?:it|that) back|(?:must |have to )?(?:correct|revise))|(?:no|wait|hold on)\b\s*[,.:;—–-]"
    r"|but no\b|that (?:was|is) (?:my|a|an|too)? ?(?:first|rash|hasty|wrong|slip|mistake|error|draft|premature))"
    r"|\bwas my (?:first )?draft\b|</think",
    re.IGNORECASE,
)
_HEADING_A_VERDICT = re.compile(
    r"(?:\A|[.!?]\s|\n)[\W0-9]*(?:(?:so|therefore|thus|hence|now|here is|as requested)\W+)*(?:(?:my|the|our)\s+)?"
    r"(?:(?:own|overall|corrected|revised|actual|final|last)\s+){0,2}"
    r"(?:(?:verdict|decision|judge?ment|conclusion|answer|selection|choice|ruling|assessment|evaluation|preference)\b"
    r"|final(?:ly)?|therefore|thus|hence|in (?:conclusion|sum|short|the end)|to conclude|all in all|on balance)"
    r"\s*(?:[:：,#\n]|\Z|(?:is|are|stands|remains|follows|as follows|after|given|considering|having|in view|in light)\b)",
    re.IGNORECASE,
)
_OTHERS = (
    r"(?:inject\w*|plant(?:s|ed|ing)|manipulat\w*|hidden|embedded|decod(?:es?|ed|ing)|base64|rot13|verbatim"
    r"|quot(?:es?|ed|ing|"
    r"ation)|claim(?:s|ed|ing)?|ignored?|disregard(?:ed)?|discount(?:ed)?|set aside|self-\w+|not (?:my|mine)"
    r"|attempt(?:s|ed|ing)? to|"
    r"tri(?:es|ed) to|trying to|pretend\w*|declares?|insists?|its own (?:verdict|score|grade|rating|evaluation)"
    r"|for the record|"
    r"suspicious|boasts?|found in|seen in|taken from|text of|text in|copied|restat\w*|translat(?:es?|ed|ion)"
    r"|appears? in|present in|"
    r"attacks?|cheat\w*|smuggl\w*|addressed to|part of (?:the|its|response|assistant)|written (?:in|by|into)"
    r"|instructs?|orders)"
)
_SPOKEN_OF = re.compile(rf"\b{_OTHERS}\b", re.IGNORECASE)
_OTHERS_SPACED, _CANDIDATE_SPACED = (words.replace(" ", r"\s") for words in (_OTHERS, _CANDIDATE))
_OF_ANOTHER = re.compile(
    rf"\b(?:{_LABEL}|I|we|its?|texts?|lines?|sentences?|instructions?|injections?|strings?|phrases?|notes?"
    rf"|statements?|candidates?|"
    r"responses?|answers?|assistants?|record)\b",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"\b(?:so|thus|hence|therefore|consequently|accordingly|finally|ultimately|together"
    r"|in (?:the end|sum(?:mary)?|short)|all in all|to sum up|on balance|taken together|to conclude)\b",
    re.IGNORECASE,
)
_NAME = re.compile(rf"\b{_CANDIDATE}", re.IGNORECASE)
_BY_LABEL = re.compile(rf"\b{_LABEL}", re.IGNORECASE)
_SIGNS = (_NAMED, _ATTRIBUTION, _SAYING_AT_LENGTH)
_THEN_SPOKEN_OF = re.compile(
    rf"""["'”’»)\]`*_|.,;:!\s—–-]*(?:(?:which|that|this|it|these|such|is|was|were|are)\b[^.!?\n]{{0,80}}?\b{_OTHERS_SPACED}\b
    |(?:but\s+|and\s+)?(?:I|we)\s+(?:have\s+|will\s+|did\s+not\s+|do\s+not\s+|don['’]t\s+|didn['’]t\s+)?
     (?:ignor\w*|disregard\w*|discount\w*|follow|obey|count|consider|set|give|let|take|treat)\b[^.!?\n]{{0,30}}\b(?:it|this|that|these|them|such)\b
    |(?:into|as\s+part\s+of|at\s+the\s+(?:end|start|top|bottom|beginning)\s+of)\s+(?:its|the|Response|Assistant)\b
    |(?:(?:(?:which|that|this)\s+)?(?:is|was)\s+)?(?:what|how|where|writes|wrote|says|said|claims|from|in|by|inside|within)\s+{_CANDIDATE_SPACED}
    |[—–-]+\s*{_CANDIDATE_SPACED}[.)]*\s*(?:\n|\Z)
    |in\s+its\s+(?:answer|text|response|reply|output)
    |(?:ignored|disregarded|discounted|injected|planted|not\s+(?:my|mine|an?\s+answer|counted))\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_HEADING = re.compile(
    r"\b(?:(?:my|our|the)\s+)?(?:(?:own|final|overall)\s+){0,2}(?:verdict|decision|judge?ment|conclusion)\b"
    r"(?:\s+is)?\s*[:：]?\s*\Z",
    re.IGNORECASE,
)
_NO_HEADING = re.compile('[:"“”‘«(]')
_CLOSING_MARK = re.compile('["”’»」`]')
_LIST_ITEM = re.compile(r"\s*(?:[-+•*|>]|\(?[0-9]{1,2}[.)]|\(?[a-z][.)])\s")
_NEW_SENTENCE = re.compile(r"[\])}\"'”’]*(?:[.!?…。！？][\])}\"'”’]*\s+(?![a-z])|\s+(?=[A-Z]))")
_BARE_LEAD = re.compile(r"[\s\-+•*#>0-9.)|\"'“‘«„(\[`_~{]*")
_SENTENCE_END = re.compile(r"(?<![\"“«(])(?<![\"“«(]\.\.)[.!?…。！？][\"'”’)\]]*\s")


class Depth(IntEnum):
    """What a decision of a reply is led by."""

    BY_ITSELF = 0
    """It begins its line, or a heading of the judge's leads to it."""
    IN_A_LINE = 1
    """It begins a sentence within its line, or a clause of the judge's leads to it."""
    LED = 2
    """Other words do, and whose it is they may tell in words that no list knows."""
    BESIDE_A_NAME = 3
    """It stands in a sentence that names a candidate, or under a line that does."""


@dataclass(slots=True)
class Quoting:
    plain: str
    writers: Callable[[str], frozenset[int]] = field(default=lambda _: frozenset())
    """The candidates that wrote a text, by their places as shown."""
    _found: bool = field(default=False, init=False)
    _double: list[int] = field(default_factory=list[int], init=False)
    _single: list[int] = field(default_factory=list[int], init=False)
    _brackets: list[int] = field(default_factory=list[int], init=False)
    _code: list[int] = field(default_factory=list[int], init=False)
    _last: tuple[int, str] = field(default=(-1, ""), init=False)
    """The place asked for last, and what announces it."""

    def quotes(self, start: int, end: int) -> bool:
        """In quotation marks, code, a block quote or parentheses."""
        if self.in_block_quote(start):
            return True
        if len(self.plain) - end < _WINDOW and not _CLOSER.search(self.plain, end):
            return False  # at the reply's end, where nothing is closed any more
        if not self._found:
            self._find_marks()
        return (
            self._in_code(start, end)
            or self._between(self._double, start, end)
            or self._between(self._single, start, end)
            or self.in_parentheses(start, end)
        )

    def _find_marks(self) -> None:
        self._found = True
        text = self.plain
        self._double = _places(text, _DOUBLE)
        self._single = [place for place in _places(text, _SINGLE) if not _is_apostrophe(text, place)]
        self._brackets = _places(text, _PARENTHESES)
        if "`" in text or "~~" in text or "</" in text:
            self._code = [run.start() for run in _CODE.finditer(text)]

    def _line_start(self, place: int) -> int:
        return self.plain.rfind("\n", 0, place) + 1

    def in_block_quote(self, start: int) -> bool:
        line = self._line_start(start)
        return self.plain[line : line + 8].lstrip().startswith(">")

    def _in_code(self, start: int, end: int) -> bool:
        before = bisect_left(self._code, start)
        return before % 2 == 1 and bisect_left(self._code, end) < len(self._code)

    def in_parentheses(self, start: int, end: int) -> bool:
        """The nearest one on the left opens and the nearest on the right closes."""
        left, right = bisect_left(self._brackets, start) - 1, bisect_left(self._brackets, end)
        if left < 0 or right >= len(self._brackets):
            return False
        return self.plain[self._brackets[left]] in "(（" and self.plain[self._brackets[right]] in ")）"

    def _between(self, marks: list[int], start: int, end: int) -> bool:
        """The nearest mark on the left opens and the nearest on the right closes it: nothing is counted over the whole
        text, so an inch mark or a stray quotation mark far away changes nothing."""
        left, right = bisect_left(marks, start) - 1, bisect_left(marks, end)
        if left < 0 or right >= len(marks):
            return False
        opener = marks[left]
        before, after = self.plain[max(0, opener - 1) : opener], self.plain[opener + 1 : opener + 2]
        spaced = after.isspace() and self.plain[opener] != "«"
        opens = (not before or _OPENS_AFTER.match(before) is not None) and not spaced
        return opens and self.plain[marks[right]] in _CLOSERS.get(self.plain[opener], "")

    def is_bare(self, start: int, end: int) -> bool:
        """Neither in marks nor behind words that lead to it."""
        return not self._announcement(start) and not self.quotes(start, end)

    def announced(self, start: int) -> bool:
        """As a candidate's text, by what stands right before it: "Response B says:", "a string that decodes to"."""
        lead = self._announcement(start)
        if _HYPOTHETICAL.search(lead):
            return True
        if not lead or _REJECTING.search(lead) or _WEIGHING.search(lead):
            return False
        if _SAYING_SOMETHING.search(lead):
            return True
        if _OWN.search(lead):
            return False
        decoding = _DECODING.search(lead) and (_CODE_WORD.search(lead) or _BY_LABEL.search(lead))
        if _CANDIDATE_SAYING.search(lead) or _ACCORDING.search(lead):
            return True
        return bool(decoding or (_FOLLOWS.search(lead) and _BY_LABEL.search(lead)))

    def after_a_colon(self, start: int) -> bool:
        lead = self._announcement(start)
        return ":" in lead or "：" in lead

    def in_prose_of_another(self, start: int) -> bool:
        """In a sentence about a candidate: "Response A tacks on …", whatever its verb."""
        lead = self._announcement(start)
        return prose(lead) >= LONG and _BY_LABEL.search(lead) is not None and not _OWN.search(lead)

    def is_own(self, start: int) -> bool:
        """Behind words such as "my final verdict is"."""
        lead = self._announcement(start)
        return lead != "" and _OWN.search(lead) is not None and not _SAYING_SOMETHING.search(lead)

    @staticmethod
    def _is_the_judges(lead: str) -> bool:
        """Whether what it leads to is the judge's, as by "Contrary to what Response A claims:"."""
        return any(sign.search(lead) for sign in (_OWN, _REJECTING, _WEIGHING))

    def follows(self, start: int) -> bool:
        """From what was said before: "which means", "it follows that". A judge's own verdict stands there too."""
        lead = self._announcement(start)
        return lead != "" and not _OWN.search(lead) and bool(_DECODING.search(lead) or _FOLLOWS.search(lead))

    def introduced(self, start: int) -> bool:
        """As words of what was spoken of before: "it says:". A judge's own verdict stands there too."""
        lead = self._announcement(start)
        return lead != "" and not self._is_the_judges(lead) and _SAYING.search(lead) is not None

    def spoken_of(self, start: int, end: int) -> bool:
        """Behind a candidate's label, or in a sentence or under a line that speaks of quoting, planting or ignoring."""
        lead = self._announcement(start)
        if (
            lead
            and not self._is_the_judges(lead)
            and (
                any(sign.search(lead) for sign in _SIGNS)
                or (
                    _SPOKEN_OF.search(lead)
                    and (_OF_ANOTHER.search(lead) or _OF_ANOTHER.search(self.plain, end, end + 60))
                )
            )
        ):
            return True
        line_end = self.plain.find("\n", end)
        line_end = len(self.plain) if line_end < 0 else line_end
        if end >= line_end or (_NEW_SENTENCE.match(self.plain, end, line_end) and not self.quotes(start, end)):
            return False
        if _THEN_SPOKEN_OF.match(self.plain, end, line_end):
            return True
        closed = _CLOSING_MARK.search(self.plain, end, min(line_end, end + _MOST_QUOTED_ON))
        return closed is not None and _THEN_SPOKEN_OF.match(self.plain, closed.start(), line_end) is not None

    def heading(self, start: int) -> int:
        """Where the words begin that head a verdict at `start`, as "My final verdict is:" does; `start` without any."""
        at = max(self._line_start(start), start - _LONGEST_HEADING)
        head = _HEADING.search(self.plain[at:start])
        return at + head.start() if head else start

    def is_one_sentence(self, start: int, end: int) -> bool:
        return "\n" not in self.plain[start:end] and not _SENTENCE_END.search(self.plain, start, end)

    def closes(self, start: int, end: int) -> bool:
        """Whether it is all that the last paragraph says, but for a word or two such as "Final verdict"."""
        paragraph = self.plain.rfind("\n\n", 0, start) + 2
        around = self.plain[max(paragraph, start - _WINDOW) : start] + self.plain[end : end + _WINDOW]
        whole = (paragraph >= start - _WINDOW or paragraph < 2) and len(self.plain) - end < _WINDOW
        return whole and prose(around) == 0

    def labelled(self, start: int) -> bool:
        """Right behind a candidate's label, as "Response A: …"."""
        lead = self._announcement(start)
        return lead != "" and _ATTRIBUTION.search(lead) is not None and not _OWN.search(lead)

    def depth(self, start: int, since: int) -> Depth:
        """How far from standing for itself a decision is, by what leads to it from `since` on."""
        lead, here = self._announcement(start), self.plain[max(self._line_start(start), since) : start]
        if not _BARE_LEAD.fullmatch(here):
            lead = here[-len(lead) :] if lead else ""
        if _REJECTING.search(lead) or _HEADING_A_VERDICT.match(lead) or _CORRECTING.match(lead):
            return Depth.BY_ITSELF
        if _WEIGHING.search(lead):
            return Depth.IN_A_LINE
        if _NAME.search(lead):
            return Depth.BESIDE_A_NAME
        words = prose(_CONNECTIVE.sub("", lead))
        if words >= A_WORD or (words and lead.rstrip(" *_`\"'“").endswith((":", "："))):
            return Depth.LED
        return Depth.IN_A_LINE if prose(_CONNECTIVE.sub("", here)) >= A_WORD else Depth.BY_ITSELF

    def corrects(self, start: int, end: int) -> bool:
        """Whether what stands between two decisions takes the first back."""
        return _CORRECTING.search(self.plain[max(start, end - _MOST_BETWEEN) : end]) is not None

    def heads(self, start: int, end: int) -> bool:
        """Whether what stands between two decisions announces a verdict of the judge's own."""
        return _HEADING_A_VERDICT.search(self.plain[max(start, end - _MOST_BETWEEN) : end]) is not None

    def _announcement(self, start: int) -> str:
        """What stands before a place in its sentence, or the line that introduces it."""
        if self._last[0] != start:
            lead = self._lead(start)
            self._last = (start, self._introduction(start) if _BARE_LEAD.fullmatch(lead) else lead)
        return self._last[1]

    def _lead(self, start: int) -> str:
        """What stands before a place in its sentence, on its line."""
        lead = self.plain[max(self._line_start(start), start - _WINDOW) : start]
        if not lead.strip():
            return ""
        ends = [mark.end() for mark in _SENTENCE_END.finditer(lead)]
        if ends and not lead[ends[-1] :].strip() and _mentions_following(lead):
            return lead  # "It reads as follows. …"
        return lead[ends[-1] :] if ends else lead

    def _introduction(self, start: int) -> str:
        """The line that introduces a line or a list: one that ends with a colon, or is a heading."""
        place = self._line_start(start)
        listed = _LIST_ITEM.match(self.plain, place) is not None
        for _ in range(_MOST_LIST_LINES):
            if place <= 0:
                return ""
            end = place - 1
            place = self._line_start(end)
            line = self.plain[max(place, end - _WINDOW) : end]
            words = line.rstrip(" *_`\"'“”")
            colon = words.endswith((":", "："))
            if not words or (not colon and listed and _LIST_ITEM.match(line)):
                continue
            if not (colon or _is_heading(words) or words.endswith("—") or _mentions_following(line)):
                return ""
            ends = [mark.end() for mark in _SENTENCE_END.finditer(line)]
            lead = line[ends[-1] :] if ends and ends[-1] < len(line) else line
            quoted = self.in_block_quote(place) and not self.in_block_quote(start)
            return "" if quoted or self._is_a_candidates(lead) else lead
        return ""

    def _is_a_candidates(self, lead: str) -> bool:
        """Whether a candidate wrote the line, to have what the judge writes below it put down to another one."""
        named = list(_BY_LABEL.finditer(lead))
        tail = lead[named[-1].start() :] if named else lead
        writers = self.writers(tail if prose(tail) else lead)
        label = named[-1].group().rstrip(")]").lower()[-1:] if named else ""
        return bool(writers) and not any(label in (str(place), chr(ord("a") + place - 1)) for place in writers)


def _is_heading(words: str) -> bool:
    if len(words) > _LONGEST_HEADING or words.endswith((".", "!", "?", "]", ",")):
        return False
    # Emphasis is gone from the plain text: a line of bold type looks like any other.
    if words.startswith("#"):
        return True
    return not (_NO_HEADING.search(words) or _LIST_ITEM.match(words)) and _SPOKEN_OF.search(words) is not None


def _mentions_following(line: str) -> bool:
    return _FOLLOWING.search(line[-40:]) is not None


def _places(text: str, marks: str) -> list[int]:
    found: list[int] = []
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            found.append(at)
            at = text.find(mark, at + 1)
    return sorted(found)


def _is_apostrophe(text: str, place: int) -> bool:
    return text[place - 1 : place].isalnum() and text[place + 1 : place + 2].isalnum()
