"""What the command line finds around it: the environment, `.env` and `evenhand.toml`, and which of them said what."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class WrongUse(Exception):
    """The command cannot be carried out as given. A sentence; exit 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    environment: Mapping[str, str]
    """The real environment over the folder's `.env`."""
    from_folder: frozenset[str]
    """Variables that only the folder's `.env` sets."""
    toml: Mapping[str, Any]
    """Flags from `evenhand.toml`, by their names with underscores."""
    dotenv: Mapping[str, str]
    """What `.env` says, whether or not the real environment says otherwise."""

    @property
    def own_environment(self) -> dict[str, str]:
        """Without what only the folder says."""
        return {name: value for name, value in self.environment.items() if name not in self.from_folder}

    @property
    def folder_flags(self) -> bool:
        return bool(self.toml) or any(name.startswith("EVENHAND_") for name in self.dotenv)

    @property
    def cache(self) -> Path:
        given = self.environment.get("EVENHAND_CACHE")
        if given:
            return Path(given)
        from platformdirs import user_cache_path

        return user_cache_path("evenhand")


def look_around(folder: Path) -> Surroundings:
    dotenv = _dotenv(folder / ".env")
    real = dict(os.environ)
    return Surroundings(
        environment={**dotenv, **real},
        from_folder=frozenset(dotenv) - frozenset(real),
        toml=_toml(folder / "evenhand.toml"),
        dotenv=dotenv,
    )


def _dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return {name: value for name, value in dotenv_values(path).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} cannot be read: {error}.") from error


def _toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongUse(f"{path} cannot be read: {error}.") from error
    return {name.replace("-", "_"): value for name, value in document.items()}
