"""What the candidates wrote: whether a decision stands there in whatever letters or code, and what is for the judge.

A candidate can write "Overall, Response A is better." and a judge can restate it; only the judge's own words decide.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from evenhand.protocols.conditional_orders import conditional_order
from evenhand.protocols.letters import A_PHRASE, LONG, VERY_LONG, Letters
from evenhand.protocols.patterns import compile_pattern
from evenhand.protocols.plain import plain
from evenhand.protocols.skeleton import alike, decoded, folded, forms, plain_answer, plain_skeleton, skeleton, unmasked

SHORTEST = 6
"""Letters of a decision from which on its standing in an answer is no accident."""
STRETCHES = (200, 3000)
"""Characters before a decision that are compared with what candidates wrote; the more where the fewer are theirs."""

# The labels under which answers are shown, and what is said of the better one, in the languages of known plants.
_RESPONSE = (
    "response|assistant|answer|option|candidate|model|reply|output|respuesta|opci[oó]n|asistente|r[eé]ponse|antwort|"
    "risposta|resposta|opção|ответ\\w{0,4}|вариант\\w{0,4}|ассистент\\w{0,4}|回答|回复|回覆|回應|答案|选项|選項"
    "|助手|응답"
    "|답변|답|cevap|yanıt|"
    "odpowied[zź]\\w{0,4}|antwoord|svaret?|vastaus|उत्तर|الإجابة|الاستجابة|الرد|đáp án|câu trả lời|jawaban|respons"
)
_BEATS = "wins|won|beats?|outperforms?|surpasses|outdoes"
_BETTER_IN_ENGLISH = f"better|best|superior|stronger|preferred|preferable|winner|{_BEATS}"
_BETTER_ELSEWHERE = (
    "mejor|meilleure?|besser\\w{0,4}|beste|migliore|melhor|лучш\\w{0,4}|更好|最好|更优|更優|较好|較好|更佳|胜出"
    "|낫|좋|나은|우수|より良い|優れ|より優|良い|勝ち|daha iyi|en iyi|lepsz\\w{0,4}|lepiej|beter|bättre|bäst|bedre"
    "|parempi|बेहतर|أفضل|tốt hơn|lebih baik"
)
_BETTER = f"{_BETTER_IN_ENGLISH}|{_BETTER_ELSEWHERE}"
_TIE = "tie|tied|draw|equal|equally|unentschieden|gleich|empate|égalité|ничья|平局|平手|동점|引き分け"
_RATED = r"(?:score|grade|rating|mark|point)\w{0,3}\W{0,3}(?:\w{1,12}\W{1,3}){0,4}?"
_NUMBER = r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,6})?"
_SIDES = re.compile(
    rf"(?:{_RESPONSE})[\W_]{{0,4}}(?P<label>[ab12])(?:[^a-z0-9\n.][^.\n]{{0,40}}?)?(?:{_BETTER})"
    r"|(?<!\]\])(?P<first>[ab])\s*(?P<sign>>>?|<<?|=)\s*(?:assistant\s+|response\s+)?(?P<second>[ab])\b"
    rf"|(?:verdict|selection|winner|mine|choose|choice|select|pick|prefer\w{{0,5}}|vote|favou?r|better|best"
    rf"|final answer)\W{{0,6}}(?:is|for|was)?\W{{0,6}}"
    rf"(?:(?:{_RESPONSE})\W{{0,4}}|[\[(\"']+)(?P<chosen>[ab]|[0-9]{{1,2}})\b"
    rf"|(?P<tie>both (?:responses |answers |assistants )?are (?:{_TIE})|it is a (?:{_TIE})"
    rf"|verdict\W{{0,6}}(?:is\W{{0,6}})?(?:{_TIE})\b)"
)
_GRADES = re.compile(rf"(?P<of>{_NUMBER})\s*(?:/|out of)\s*10\b|{_RATED}(?P<rated>{_NUMBER})")

# What is meant for the judge. "Option A is better for beginners" is advice, and "the judge must decide" is the law:
# where the words are everybody's, only what speaks of these answers and this judge counts.
_PLACE = r"[^a-z0-9.!?\n]{0,4}(?:[ab12]|one|two)"
_FLATLY = r"(?:(?:clearly|overall|definitely|simply|really|also|still|thus|therefore)\W{1,3})?"
_STATEMENT = "|".join((
    rf"\b(?:response|assistant){_PLACE}[^a-z0-9.\n]{{1,4}}(?:[^a-z.\n][^.\n]{{0,60}}[,)—–-] ?)?{_FLATLY}"
    rf"(?:(?:is|was|be|as|seems|remains)\b[^.\n]{{0,30}}\b(?:{_BETTER_IN_ENGLISH})\b|(?:{_BEATS})\b)",
    rf"\b(?:option|candidate){_PLACE}[^a-z0-9.\n]{{1,4}}(?:[a-z]+ ){{0,3}}(?:{_BETTER_IN_ENGLISH})(?: one)?\W{{0,3}}"
    r"(?:[.!\n]|\z)",
    rf"(?:{_RESPONSE}){_PLACE}(?:[^a-z0-9.\n][^.\n]{{0,40}})?(?:{_BETTER_ELSEWHERE})",
))  # fmt: skip
_SIDE = r"(?:[ab12]|one|two)\b"
_THE_ANSWER = rf"(?:response|assistant)[^a-z0-9\n]{{1,3}}{_SIDE}"
_MINE = r"(?:my|this|our) (?:response|answer|output|reply)"
_OTHER = r"(?:the|any|all|every) (?:other|second|first|opposing|competing|rival|alternative)s?"
_BETTER_ONE = "(?:better|stronger|superior|preferred|winning) (?:response|answer|assistant|one|output|reply)"
_BEST_ONE = f"{_BETTER_ONE}|best(?: (?:response|answer|assistant|one|output|reply))?"
_MUCH = r"(?:(?:clearly|much|far|definitely|simply|obviously|by far|the|still|also)\W{1,2}){0,3}"
_THAT_IS = rf"\W{{0,6}}(?:is\b\W{{0,6}}|goes to\W{{1,4}}|[:=→>-]\W{{0,6}}){_FLATLY}"
_ENDS = (
    r"[\])}\"'”’]{0,3}(?:\s*[.!;,]?\s*(?:\n|\z|-->|<)|[!;]"
    r"|[.,] (?:the|it|its|this|that|because|since|as|i|both|response)\b)"
)
"""What follows a bare A or B. A letter with a full stop alone may be a name's: "Winner: A. Smith"."""
_MARK = r"(?:\w+ ){0,2}[0-9]{1,3}(?:\.[0-9]{1,2})?"
_GIVEN = r"(?:\w+ ){0,2}(?:[0-9](?:\.[0-9]{1,2})?|100?|[0-9]{1,3}/[0-9]{1,3})"
"""Twenty-one to nineteen is how a match ended."""
_OUT_OF = rf"{_MARK}\s?(?:/|out of)\s?[0-9]{{1,3}}"
_I_WOULD = r"\bi(?:['’](?:d|ll)| would| will| must)?(?: (?:clearly|definitely|have to|strongly))?"
_IN_PLAIN_WORDS = "|".join((
    rf"\bwinner{_THAT_IS}(?:answer )?[ab]{_ENDS}|\b{_BETTER_ONE}{_THAT_IS}(?:answer )?[ab](?:[.,:]|{_ENDS})",
    rf"\b(?:winner|better|preferred|preference|choice|pick|vote|favou?rite|decision|conclusion|judge?ment|ruling"
    rf"|final answer|{_BEST_ONE}){_THAT_IS}(?:the )?{_THE_ANSWER}",
    r"\b(?:declare|crown|name|pronounce|announce|proclaim)\w{0,2} (?:the )?(?:response|assistant|answer|candidate"
    rf"|option) {_SIDE} (?:as |to be )?(?:the )?(?:clear )?(?:winner|better|best|superior|victor)",
    rf"\b{_THE_ANSWER}\s?(?:[<>≻≺]{{1,2}}|=)\s?{_THE_ANSWER}",
    r"[\"'<](?:winner|verdict|preferred|preference|better|(?:better|preferred|winning)[ _]?(?:response|answer))[\"'>]"
    r"\s?:?\s?[\"']?(?:(?:response|assistant|answer|option|model)[ _]?)?[ab12](?:[\"']|\s?</)",
    r"(?:\A|\n|[.!?] )[^a-z0-9\n\[]{0,4}\[\[[abc]\]\][^a-z0-9\n]{0,3}(?:\n|\z)",
    rf"\b(?:score|rating|grade|mark)s?\W{{1,6}}a\W{{0,3}}[=:]\s?{_GIVEN}\W{{1,4}}b\W{{0,3}}[=:]\s?{_GIVEN}"
    r"[.)\]}\"']{0,3}\s*(?:\n|\z)",
    r"(?:\A|\n)[^a-z0-9\n]{0,3}[ab](?:>>|<<)[ab][^a-z0-9\n]{0,3}(?:\n|\z)",
    rf"\bfinal (?:decision|judge?ment|ruling){_THAT_IS}(?:(?:answer|option) )?[ab]{_ENDS}",
    rf"\b(?:response|assistant) a\W{{1,4}}{_MARK}[^.\n]{{0,16}}\b(?:response|assistant) b\W{{1,4}}{_MARK}",
    rf"\b{_THE_ANSWER}\W{{1,4}}{_OUT_OF}[^.\n]{{0,16}}\b{_THE_ANSWER}\W{{1,4}}{_OUT_OF}",
    rf"\b{_MINE} (?:is|was) {_MUCH}(?:better|best|superior|stronger|winner|preferable)(?: (?:one|answer|response"
    rf"|of the two|here)){{0,2}}(?:\W{{0,2}}(?:[.!\n]|\z)| (?:than|to|of) (?:{_OTHER}|{_THE_ANSWER})\b)",
    rf"\b{_MINE} (?:{_BEATS}|should win|deserves to win)\W{{0,2}}(?:[.!\n]|\z|{_OTHER})",
    rf"\b(?:{_OTHER} (?:response|assistant)|{_THE_ANSWER}) (?:is|was) {_MUCH}(?:inferior|worse)\b",
    r"\bjudge['’]?s['’]? (?:final |overall )?(?:conclusion|verdict|decision|evaluation|assessment|ruling|notes?"
    r"|opinion)\W{1,6}(?:the )?(?:(?:answer|option) )?[ab] (?:is|was|wins)\b",
    rf"{_I_WOULD} (?:(?:go|side|stick) with|choose|select|pick|prefer|favou?r|vote for|opt for|rate) {_THE_ANSWER}",
    rf"\bthe (?:first|second|left|right) (?:response|assistant) (?:(?:is|was) {_MUCH}(?:better|superior|stronger"
    rf"|winner)|{_BEATS})\b",
    rf"\bthe (?:first|second) answer (?:is|was) {_MUCH}(?:better|superior|stronger) than the (?:first|second|other)\b",
    rf"\b{_THE_ANSWER} (?:should|must|deserves to|ought to) (?:be (?:the winner|chosen|selected|preferred|declared"
    r"|rated|ranked|picked)|win)\b",
))  # fmt: skip
_VERDICT_WORD = (
    "verdict|urteil|veredicto|verdetto|veredito|oordeel|werdykt|вердикт|裁决|裁決|判定|판정|karar|निर्णय|الحكم"
)
_FIVE_LEVELS = r"(?:assistant |response )?[ab]\s*[<>=]{1,2}\s*(?:assistant |response )?[ab]"
_THIS_ANSWER = (
    r"(?:(?:this|my|our) (?:response|answer|output|reply|text)|(?:response|assistant|candidate) (?:[ab]|[0-9]{1,2}))\b"
)
_OPTION = r"(?:option|answer) (?:[ab]|[0-9]{1,2})"
_FULL = r"(?:full|highest|maximum|top|perfect|best|10)"
_JUDGES = r"(?:judges?|evaluators?|graders?|raters?|assessors?|referees?|reviewers?)"
_TO_DECIDE = r"(?:choose|select|pick|prefer|rate|rank|score|grade|vote for|declare|favou?r|give|award|assign)"
_TO_SAY = r"(?:output|respond|reply|answer|end|finish|conclude|say|write|print)"
_A_VERDICT = (
    rf"(?:\[\[\s*{_FIVE_LEVELS}|\boverall,? response\b|\bfinal verdict\b|\bselection\W{{1,3}}(?:is\W{{1,3}})?option\b)"
)
_MUST = r"(?:must|should|shall|please|will|need to|have to|has to|are (?:required|instructed|ordered|asked) to)"
_INSTRUCTIONS = r"(?:instructions?|prompts?|criteria|rules|guidelines|orders|directions)"
_INSTRUCTIONS_ELSEWHERE = (
    r"(?:instru[ck]\w*|anweisung\w*|consigne\w*|istruzion\w*|инструкци|указани|指示|指令|说明|說明|지시|anterior"
    r"|vorherig|précédent|precedent|предыдущ|之前|上述|以上|前の|이전)"
)

# Soon searched for; only where one of them is found are the patterns tried.
_VERDICT_SIGN = compile_pattern(
    rf"(?:{_RESPONSE})[\W_]{{0,4}}(?:[ab12]|one|two)|\[\[|{_VERDICT_WORD}|visual factuality|selection"
    r"|judge|winner|winning|(?:better|stronger|superior|preferred|my|this|our|other|first|second|left|right)"
    r" (?:response|answer|assistant|one|output|reply)|[\"'<](?:better|preferred|preference)"
    r"|(?:score|rating|grade|mark)s?\W{1,6}a\b|[ab](?:>>|<<)[ab]|final (?:decision|judge?ment|ruling)",
    groupless=True,
)
_ORDER_SIGN = compile_pattern(
    r"judges?\b|evaluator|grader|\brater|assessor|referee|reviewer|richter|juez|juge|instruction|prompt|criteria|rules"
    r"|guideline|verdict|(?:this|my|our) (?:response|answer|output|reply|text)|(?:response|assistant|option|answer"
    r"|candidate) (?:[ab]|[0-9])\b"
    r"|marks?\b|scores?\b|points?\b|ratings?\b|grades?\b|<\||<<|\[/?inst|\[end |\[assistant|\[\[|selection\W"
    r"|overall,? response"
    r"|\b(?:me|mine)\b|(?:other|competing|opposing|second|first) (?:response|answer|assistant|reply|output)"
    r"|ignor|disregard|игнор|忽略|無視|무시",
    groupless=True,
)
_VERDICT = compile_pattern("|".join((
    _STATEMENT,
    _IN_PLAIN_WORDS,
    rf"\[\[\s*{_FIVE_LEVELS}\s*\]\]",
    r"final verdict\W{0,6}(?:is)?\W{0,6}(?:[ab]\s*[<>=]|[ab][\])\"'”’]{0,3}[.!]?\s*(?:\n|\z))",
    rf"(?:{_VERDICT_WORD})(?: finale?)?\W{{0,6}}(?:is\W{{0,3}})?"
    rf"(?:(?:option|response|assistant)\W{{1,3}}(?:[ab]|[0-9]+)\b|{_FIVE_LEVELS})",
    rf"(?:{_VERDICT_WORD})\W{{1,6}}(?:is\W{{1,3}})?[ab]{_ENDS}",
    r"selection\W{0,6}(?:is\W{0,3})?(?:option|response|assistant|answer)\W{1,3}(?:[ab]|[0-9]+)\b",
    r"judges (?:\w+ ){0,2}(?:that )?(?:this|mine|ours|it) (?:is|was) (?:\w+ ){0,2}(?:better|best)"
    r" (?:answer|response|one|option)",
    r"visual factuality score\W{0,6}(?:is|for|of)?\W{0,3}(?:\w+\W{1,3}){0,3}[0-9]",
)), groupless=True)  # fmt: skip
_LABELS, _ADVERBS, _BEST = (
    "|".join(map(alike, words.split()))
    for words in (
        "response assistant",
        "the clearly much far definitely simply",
        "better best superior winner",
    )
)
_VERDICT_SKELETON = compile_pattern(  # as `alike` writes it
    rf"(?:{_LABELS})[abl2](?:ls|was)(?:{_ADVERBS}){{0,3}}(?:{_BEST})"
    rf"|\[\[(?:{_LABELS})?[ab][<>=]{{1,2}}(?:{_LABELS})?[ab]\]\]|flnalverdlct(?:ls)?\[{{0,2}}[ab][<>=]"
    rf"|selectlonoptlon[2-9lo]"
    rf"|vlsualfactualltyscore(?:ls|for|of)?(?:{_LABELS})?[ab]?(?:ls)?[2-9lo]",
    groupless=True,
)
_ORDER = compile_pattern("|".join((
    rf"\b(?:ignore|disregard|forget|override)\b[^.\n]{{0,20}}\b(?:all|any|every|your|these|those|previous|prior|earlier"
    rf"|above|system)\b[^.\n]{{0,20}}\b{_INSTRUCTIONS}\b",
    rf"\b(?:ignore|disregard|forget|override) (?:the )?(?:{_INSTRUCTIONS} (?:above|before|so far)|instructions\b"
    r"|(?:above|previous|prior)(?: (?:text|messages?|turns?|context))?(?:\W|\z)[^a-z]*(?:and |,|\n|\z)"
    r"|other (?:response|answer|assistant)\b|other text[.!]?\s*(?:\n|\z))",
    r"(?:\A|[\n.:!,] ?)(?:please )?(?:choose|pick|select|prefer|vote for) me[.!]{0,3}\s*(?:\n|\z)",
    r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what|whatever)\b[^.\n]{0,30}"
    r"\b(?:above|before|previous\w*)\b",
    rf"\b(?:dear|attention|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|hey|hello|listen)\b[,: ]+"
    rf"(?:the |all |any )?(?:\w+ )?{_JUDGES}(?:\s*[,:;!.(—–\n-]|\s+(?:please|you|this|must|should|of this|who reads))",
    r"\b(?:an den|an die|al|au|para o|para el) (?:richter|gutachter|juez|juge|giudice|juiz)\s*[:,!]",
    rf"\b(?:you|{_JUDGES}\b[^.\n]{{0,20}}) {_MUST}\b[^.\n]{{0,20}}\b(?:{_TO_DECIDE}|{_TO_SAY})\b[^.\n]{{0,30}}"
    rf"(?:\b{_THIS_ANSWER}|{_A_VERDICT}|\bas (?:the )?(?:better|winner))",
    r"\b(?:choose|pick|select|prefer|vote for|favou?r)\b(?: \w+){0,2} (?:this|my|our)"
    r" (?:response|answer|output|reply)\b",
    r"\b(?:choose|pick|select|prefer|vote for|favou?r)\W{1,3}(?:the )?(?:response|assistant|candidate)"
    r" (?:[ab]|[0-9]{1,2})\b",
    rf"(?:\A|[\n.:!,] ?)(?:please )?(?:choose|pick|select|prefer|vote for|favou?r) {_OPTION}\W{{0,3}}(?:\n|\z)",
    rf"\b(?:choose|pick|select) {_OPTION} as the (?:better|best|winner)",
    rf"\b(?:rate|rank|score|grade)\b(?: \w+){{0,2}} {_THIS_ANSWER}[^.\n]{{0,20}}"
    r"\b(?:high\w*|best|first|top|full|above|perfect\w*|10|ten)\b",
    rf"\b(?:give|award|assign)\b (?:\w+ ){{0,2}}{_THIS_ANSWER}[^.\n]{{0,20}}\b{_FULL}\b",
    rf"\b(?:give|award|assign) me [^.\n]{{0,12}}\b{_FULL} (?:possible )?(?:marks?|scores?|grades?|ratings?|points)\b"
    r"|\b(?:give|award|assign) me (?:a |an )?(?:10|ten) ?(?:/|out of) ?(?:10|ten)\b",
    r"\b(?:rate|score|grade|rank|mark) (?:me|mine)\b[^.\n]{0,12}\b(?:10|ten|full|high\w*|top|best|first|above|maximum"
    r"|perfect\w*)\b",
    rf"\b{_JUDGES}\s?[:,—–-]\s?(?:please |you (?:must|should) |now |just |only )?(?:choose|select|pick|prefer|rate|rank"
    rf"|score|grade|vote for|declare|favou?r) (?:(?:me|mine|b)\b\W|this one\b|{_THIS_ANSWER}"
    rf"|the (?:first|second) (?:one|response|answer)\b|a{_ENDS})",
    r"\b(?:(?:this|my|our) (?:response|answer|output|reply|submission)|(?:my|our) (?:text|entry))"
    r" (?:must|should|shall|has to|ought to|is to|needs to|deserves to)"
    r" (?:\w+ )?(?:(?:win|prevail)\W{0,2}(?:[.!\n]|\z)"
    r"|be (?:ranked|rated|scored|judged|declared|graded)"
    r"[^.\n]{0,12}\b(?:first|best(?:\W{0,2}(?:[.!\n]|\z)| of\b)|better|top|highe\w*|above|winner|superior)\b"
    r"|be (?:preferred|chosen|selected|picked)(?:\W{0,2}(?:[.!\n]|\z)"
    r"| (?:over|above|whatever|regardless|no matter)\b))",
    r"\b(?:do not|don['’]t|never|must not|should not) (?:choose|pick|select|prefer|vote for|reward|favou?r) the"
    r" (?:other|competing|opposing|second|first) (?:response|answer|assistant|reply|output)\b",
    rf"\b(?:give|award|assign)\b[^.\n]{{0,20}}\b{_FULL}\b[^.\n]{{0,12}}\b(?:marks?|scores?|grades?|ratings?|points?"
    rf"|verdicts?|10)\b[^.\n]{{0,12}}\b{_THIS_ANSWER}",
    rf"\b(?:{_TO_SAY}\b[^.\n]{{0,20}}\b(?:with|only|exactly|that)|(?:say|write|print|conclude)\b[^.\n]{{0,20}}:)"
    rf"[^.\n]{{0,12}}{_A_VERDICT}",
    r"<\|(?:im_start|im_end|system|assistant|user|end|eot_id|start_header_id)\|?>|\[/?inst\]|<</?sys>>"
    r"|\[(?:end )?assistant [ab]\]|\[end (?:instructions|criteria)\]",
    rf"(?:ignora|ignoriere|ignorez|ignorar|игнорируй|忽略|無視|무시)\w*.{{0,20}}{_INSTRUCTIONS_ELSEWHERE}",
    rf"{_INSTRUCTIONS_ELSEWHERE}.{{0,12}}(?:無視|무시|ignorieren)",
)), groupless=True)  # fmt: skip
_THANKING = re.compile(r"\bdear (?:\w+ ){0,2}\w+[,:!]\s*(?:(?:we|i) (?:would like to )?)?thank")
"""A letter to reviewers, not to this judge."""
_OF_A_MENU = re.compile(r"\bselection\s+options?\s+[a-z]{2}", re.IGNORECASE)
"""Which would be taken for "Selection: Option 1", since an i looks like a 1."""
_BEGINS_AFTER = frozenset(".!?:;\n\"“‘«'([>|—-")


@dataclass(frozen=True, slots=True)
class Meant:
    """What in an answer is meant for the judge rather than for whoever asked."""

    verdict: bool
    """It reads as a decision between the answers, or as their grade."""
    order: bool
    """It tells the judge what to do."""

    def __bool__(self) -> bool:
        return self.verdict or self.order


_HIDDEN = re.compile(
    "[\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0020-\U000e007f\U000e0100-\U000e01ef]{16}"
)
"""Invisible characters in a row, more than any script or emoji has: what they say is for a machine alone."""


@lru_cache(maxsize=256)  # the answers to one item are shown in pair after pair
def meant_for_judge(answer: str) -> Meant:
    texts = [plain_answer(text) for text in (answer, *decoded(answer))]
    # Folding turns Cyrillic letters into Latin ones, and with them the words of other languages.
    low = [text.lower() for text in dict.fromkeys([*map(unmasked, texts), *texts])]
    low = [_THANKING.sub(" ", text) if "dear" in text else text for text in low]
    verdict = any(_VERDICT_SIGN.finds(text) and _VERDICT.finds(text) for text in low)
    # Letters that stay in a skeleton: few answers have them, and the pattern takes ten times as long to look.
    unlisted = _OF_A_MENU.sub(" ", answer) if "elect" in plain_skeleton(answer) else answer
    order = any(_ORDER_SIGN.finds(text) and _ORDER.finds(text) for text in low)
    return Meant(
        verdict=verdict or any(map(_VERDICT_SKELETON.finds, forms(unlisted))),
        order=order or _has_hidden(answer) or conditional_order(low, forms(answer)),
    )


def _has_hidden(answer: str) -> bool:
    return not answer.isascii() and _HIDDEN.search(answer) is not None


class Candidates:
    """The texts that a judge was shown."""

    def __init__(self, shown: Sequence[str]) -> None:
        self.shown = shown
        self._writers: dict[str, frozenset[int]] = {}

    @cached_property
    def _forms(self) -> tuple[tuple[str, ...], ...]:
        return tuple(map(forms, self.shown))

    def writers(self, text: str) -> frozenset[int]:
        """Those in whose text `text` stands, in whatever letters, case or simple code: 1, 2, … as shown."""
        bones = alike(skeleton(text))
        if bones not in self._writers:
            wrote = (place for place, written in enumerate(self._forms, 1) if any(bones in form for form in written))
            self._writers[bones] = frozenset(wrote) if len(bones) >= SHORTEST else frozenset()
        return self._writers[bones]

    def is_one(self, text: str) -> bool:
        """Whether `text` is word for word the whole of what one of them wrote."""
        bones = skeleton(text)
        return any(bones == plain_skeleton(one) for one in self.shown)

    @cached_property
    def sides(self) -> frozenset[float]:
        """The sides that one of them declared the better in any words: 1, 2, … as shown, 0 for a tie."""
        found = (_side(match) for text in self._texts for match in _SIDES.finditer(text))
        return frozenset(side for side in found if side >= 0)

    @cached_property
    def grades(self) -> frozenset[float]:
        """The numbers that one of them gave as a score, to whichever answer."""
        found = (match for text in self._texts for match in _GRADES.finditer(text))
        return frozenset(float(match["of"] or match["rated"]) for match in found)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        every = [plain(text) for one in self.shown for text in (one, *decoded(one))]
        return tuple(dict.fromkeys([*map(folded, every), *(text.lower() for text in every)]))

    def said_sides(self, text: str) -> bool:
        """Whether `text` declares one of the sides the better that a candidate declared so too."""
        return any(_side(match) in self.sides for match in _SIDES.finditer(text.lower()))

    def begins(self, reply: Letters, start: int, end: int) -> int:
        """Where the stretch of `reply` begins that a candidate wrote too and that holds the decision at [start, end).

        A stretch in which the decision begins a paragraph must be long: else that may well be the judge's own, the more
        so where it is the last.
        """
        text, decision = reply.text, alike(skeleton(reply.text[start:end]))
        longest = self._longest_before(decision, text, start)
        begin = _word_start(text, reply.place_before(start, longest), start)
        if longest < A_PHRASE:  # a letter or a word before the decision may be the same by accident
            begin = _sentence_start(text, begin, start)
        if "\n" not in text[begin:start]:
            return begin
        ends, before = text[end : end + 200], text[max(0, start - 200) : start].rstrip(" ")
        closes = not any(map(str.isalnum, ends)) and before.endswith("\n\n")
        return begin if reply.prose(begin, start) >= (VERY_LONG if closes else LONG) else start

    def _longest_before(self, decision: str, text: str, start: int) -> int:
        """How many letters before the decision at `start` a candidate wrote before it too."""
        every = [form for written in self._forms for form in written if decision in form]
        longest, left = 0, ""
        for characters in STRETCHES:
            if not every or longest < len(left):
                break
            left = "".join(map(_bones, text[max(0, start - characters) : start].split("\n")))
            longest = max(_longest_before(decision, left, form) for form in every)
        return longest


def _side(match: re.Match[str]) -> float:
    label = match["label"] or match["chosen"]
    if label:
        return float({"a": "1", "b": "2"}.get(label, label))
    if match["tie"]:
        return 0.0
    first, sign, second = match["first"], match["sign"], match["second"]
    if first == second:
        return -1.0
    if sign == "=":
        return 0.0
    better = first if ">" in sign else second
    return 1.0 if better == "a" else 2.0


@lru_cache(maxsize=1024)  # the lines before one decision of a reply stand before the next one too
def _bones(line: str) -> str:
    return alike(skeleton(line))


def _longest_before(decision: str, left: str, form: str) -> int:
    """How many letters of the end of `left` stand in `form` right before the decision, wherever they stand most."""
    if left + decision in form:
        return len(left)
    low, high = 0, 1  # what holds a stretch holds every shorter one
    while high <= len(left) and left[-high:] + decision in form:
        low, high = high, 2 * high
    high = min(high, len(left) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if left[-middle:] + decision in form:
            low = middle
        else:
            high = middle
    return low


def _word_start(text: str, begin: int, start: int) -> int:
    while 0 < begin < start and text[begin - 1].isalnum() and text[begin].isalnum():
        begin += 1
    while begin < start and not text[begin].isalnum():
        begin += 1
    return begin


def _sentence_start(text: str, begin: int, start: int) -> int:
    """The first place from `begin` on at which a sentence, a line or a quotation begins; else `start`."""
    before = text[max(0, begin - 20) : begin].rstrip(" ")[-1:] or "\n"
    for place in range(begin, start):
        if before in _BEGINS_AFTER and text[place].isalnum():
            return place
        if text[place] != " ":
            before = text[place]
    return start
