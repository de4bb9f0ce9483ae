"""What the command line finds around it: the environment, the folder's `.env` and `evenhand.toml`, the user's own file.

A folder may have come from a stranger: what its files say is kept apart from what the user said (cli/folder.py).
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from evenhand.domain.errors import EvenhandError
from evenhand.format.toml_text import read_toml

TOML, DOTENV = "evenhand.toml", ".env"
_MOST_BYTES = 1 << 20
"""Of a file of settings; a larger one is none."""


UNTRUSTED = "EH-FOLDER-UNTRUSTED"


class WrongUse(EvenhandError):
    """The command cannot be carried out as given."""

    code = "EH-USAGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    folder: Path
    real: Mapping[str, str]
    """The environment that the program was started in."""
    dotenv: Mapping[str, str]
    """What `.env` says, whether or not the real environment says otherwise."""
    toml: Mapping[str, Any]
    """What the folder's `evenhand.toml` says, by the flags' names with underscores."""
    own: Mapping[str, Any]
    """The same of the user's own file."""
    trusted: bool = False
    """The user said that this folder may set anything."""
    of_folder: frozenset[str] = frozenset()
    """Flags of the command under way that a folder chose which nobody vouched for."""
    raw_dotenv: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """Without what only a folder says that nobody vouched for."""
        return {**self.dotenv, **self.real} if self.trusted else dict(self.real)

    @property
    def withheld(self) -> dict[str, str]:
        """Variables of `.env` that are not read because nobody vouched for the folder."""
        return {} if self.trusted else {name: said for name, said in self.dotenv.items() if name not in self.real}

    @property
    def cache(self) -> Path:
        """Raises WrongUse where a folder would choose it: weights lie there that are loaded."""
        if "EVENHAND_CACHE" in self.withheld:
            raise WrongUse(refused_variable("EVENHAND_CACHE"), code=UNTRUSTED)
        given = self.environment.get("EVENHAND_CACHE")
        if given:
            return Path(given)
        from platformdirs import user_cache_path

        return user_cache_path("evenhand")

    def trusting(self) -> "Environment":
        """The same where the user vouches for the folder: its `.env` may then name other variables too (`${HOME}`)."""
        return replace(self, trusted=True, dotenv=_variables(self.raw_dotenv, interpolate=True))


def refused_variable(name: str) -> str:
    return (
        f"{DOTENV} in this folder sets {name}, which a folder may not choose for you. Set {name} in your environment, "
        "or give --trust-folder if you trust this folder."
    )


def look_around(folder: Path) -> Environment:
    raw = "" if not (folder / DOTENV).is_file() else _text(folder / DOTENV)
    return Environment(
        folder=folder,
        real=dict(os.environ),
        # A stranger's `${OPENAI_API_KEY}` is not filled in: what a folder may set could carry it away.
        dotenv=_variables(raw, interpolate=False),
        raw_dotenv=raw,
        toml=_toml(folder / TOML, TOML),
        own=_own(),
    )


def own_file() -> Path:
    from platformdirs import user_config_path

    return user_config_path("evenhand") / TOML


def _own() -> dict[str, Any]:
    path = own_file()
    return _toml(path, str(path))


def _variables(text: str, *, interpolate: bool) -> dict[str, str]:
    if not text:
        return {}
    from dotenv import dotenv_values

    read = dotenv_values(stream=StringIO(text), interpolate=interpolate)
    return {name: value for name, value in read.items() if value is not None}


def _toml(path: Path, shown: str) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        document = read_toml(_text(path))
    except RecursionError:
        raise WrongUse(
            f"{path} cannot be read: tables or lists lie in each other too deep.", code="EH-SETTINGS"
        ) from None
    except ValueError as error:  # also a number with too many digits
        raise WrongUse(f"{path} cannot be read: {error}.", code="EH-SETTINGS") from error
    found: dict[str, Any] = {}
    for written, value in document.items():
        name = written.replace("-", "_")
        if name in found:
            raise WrongUse(
                f"{shown} sets '{name.replace('_', '-')}' twice, with - and with _; leave one of them out.",
                code="EH-SETTINGS",
            )
        found[name] = value
    return found


def _text(path: Path) -> str:
    """Raises WrongUse for what is no text file of settings. Never waits for the other end of a pipe."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(file, "rb") as data:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise WrongUse(
                    f"{path} is not a file, so no settings are read from it; move it away.", code="EH-SETTINGS"
                )
            content = data.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise WrongUse(
                f"{path} is larger than {_MOST_BYTES:,} bytes, which no file of settings is; move it away.",
                code="EH-SETTINGS",
            )
        return content.decode("utf-8-sig")
    except IsADirectoryError:
        raise WrongUse(
            f"{path} is a folder, so no settings are read from it; move it away.", code="EH-SETTINGS"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} cannot be read: {error}.", code="EH-SETTINGS") from error
