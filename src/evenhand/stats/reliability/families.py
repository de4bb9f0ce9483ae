"""Which models come from one maker, so that a judge's liking for its own can be told from a liking for others.

By rule and by what a user says; a name that neither knows has no family, and is then on nobody's side.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# Beginnings of a model's name without its provider, in lower case. Only names that are one maker's own: what was tuned
# from somebody's weights under another name (Vicuna, LLaVA) is not here.
_MAKERS: Mapping[str, tuple[str, ...]] = {
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma", "paligemma"),
    "meta": ("llama", "meta-llama"),
    "mistral": ("mistral", "mixtral", "pixtral", "ministral", "magistral"),
    "qwen": ("qwen", "qwq", "qvq"),
    "deepseek": ("deepseek",),
    "internlm": ("internvl", "internlm"),
    "xai": ("grok",),
    "cohere": ("command-a", "command-r", "aya"),
    "moonshot": ("moonshot", "kimi"),
    "bytedance": ("doubao",),
    "zhipu": ("glm", "chatglm", "cogvlm"),
    "openbmb": ("minicpm",),
    "microsoft": ("phi",),
    "huggingface": ("smollm", "smolvlm", "idefics"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    """From a model's name, as it is written in the data, to its family; this goes before the rule."""

    def of(self, name: str) -> str | None:
        """None where it is not known. A beginning counts only as a whole word: phi is not the beginning of philo."""
        if name in self.given:
            return self.given[name].casefold()
        model = name.rpartition("/")[2].casefold()
        for maker, beginnings in _MAKERS.items():
            if any(_begins(model, one) for one in beginnings):
                return maker
        return None

    def told(self, names: Iterable[str]) -> str:
        """A sentence: what was taken for the family of each."""
        groups: dict[str | None, list[str]] = {}
        for name in sorted(set(names)):
            groups.setdefault(self.of(name), []).append(name)
        unknown = groups.pop(None, [])
        known = [f"{family}: {', '.join(each)}" for family, each in sorted(groups.items(), key=lambda one: str(one[0]))]
        left_out = [f"not known, so left out: {', '.join(unknown)}"] if unknown else []
        return f"Families assumed by name: {'; '.join([*known, *left_out])}."


def _begins(model: str, word: str) -> bool:
    return re.match(re.escape(word) + (r"(?![a-z0-9])" if word[-1].isdigit() else r"(?![a-z])"), model) is not None


def parse_families(given: Iterable[str]) -> Families:
    """Of texts such as `llava-13b=meta`. Raises ValueError, a sentence, where one is not so written."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, family = (part.strip() for part in text.rpartition("="))
        if not (name and equals and family):
            raise ValueError(f"--family says NAME=FAMILY, such as llava-13b=meta; not '{text}'.")
        if found.setdefault(name, family) != family:
            raise ValueError(f"--family gives {name} two families: {found[name]} and {family}.")
    return Families(given=found)
