"""HTML made from templates, which lie beside what they show: what is put into one is text, but what another made."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from evenhand.format.printable import printable
from evenhand.format.words import unbroken

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PIECES = re.compile(r"\S{1,24}\s*|\s+")


def rendered(template: str, **values: Any) -> "Markup":
    """`template`: its path in the package."""
    from markupsafe import Markup

    return Markup(_templates().get_template(template).render(values))  # noqa: S704  escaped when rendered


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("evenhand", ""),
        autoescape=True,
        finalize=_fit_for_a_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Between its pieces a name that is too long for a column may go on in the next line.
    cast("dict[str, Any]", made.filters).update(unbroken=unbroken, commands=commands, pieces=_PIECES.findall)
    return made


def commands(sentence: str) -> "Markup":
    """What stands between backticks, as our sentences for the terminal have it, is set as code."""
    from markupsafe import Markup, escape

    text = str(escape(printable(sentence)))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", text))  # noqa: S704  escaped here


def _fit_for_a_page(value: Any) -> Any:
    """Words that others wrote must not steer what stands around them; what a template made is ready."""
    return printable(value) if type(value) is str else value
