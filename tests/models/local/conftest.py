"""The real embedded model with its real weights, fetched once into the user's own cache."""

import importlib.util
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import platformdirs
import pytest
import pytest_asyncio

from evenhand.domain.call import Message, Offer, Request
from evenhand.domain.rater import Settings
from evenhand.models.local.client import LocalModel, LocalWeights, resolve_local
from evenhand.models.local.weights import FetchFailed, fetch_smollm2

Ask = Callable[..., Request]


@pytest.fixture(scope="session")
def cache() -> Path:
    return Path(os.environ.get("EVENHAND_CACHE") or platformdirs.user_cache_dir("evenhand"))


@pytest.fixture(scope="session")
def weights(cache: Path) -> LocalWeights:
    if importlib.util.find_spec("xllamacpp") is None:
        _skip("xllamacpp is not installed")
    try:
        fetch_smollm2(cache)
    except FetchFailed as failed:
        _skip(str(failed))
    return resolve_local("local/smollm2", cache=cache)


def _skip(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"In CI the embedded model must be there: {reason}")
    pytest.skip(reason)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def model(weights: LocalWeights) -> AsyncIterator[LocalModel]:
    loaded = LocalModel(weights)
    yield loaded
    await loaded.close()


@pytest.fixture(scope="session")
def ask(weights: LocalWeights) -> Ask:
    def build(text: str, *, offer: Offer | None = None, settings: Settings | None = None) -> Request:
        return Request(
            endpoint=weights.sha256,
            model=weights.name,
            messages=(Message(role="user", parts=(text,)),),
            settings=settings or Settings(),
            offer=offer,
        )

    return build
