"""Files by their digests in a bucket of any S3-speaking server.

Where the server is and who asks it come from the usual AWS_ variables, which the library reads: nothing of them is kept
or shown.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from evenhand.images.places import DIGEST, PlaceError, StoreProblem, altered_in

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")

_ASKED_SINGLY = 20
"""Files that are looked for one by one; of more, all names are listed, a thousand in an answer."""
_RETRIES, _RETRY_SECONDS = 4, 30.0
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


class S3Place:
    """The files under `s3://BUCKET/PREFIX/KIND`. Raises PlaceError where the server cannot be used."""

    def __init__(self, url: str, kind: str, *, nested: bool) -> None:
        """`nested`: as of a folder, so that one can be copied to the other with any tool."""
        parts = urlsplit(url)
        self._nested = nested
        self.where = f"s3://{parts.netloc}/{_joined(parts.path, kind)}"
        self._store = _bucket(parts.netloc, _joined(parts.path, kind), self.where)

    def get(self, digest: str) -> bytes | None:
        try:
            return bytes(self._asked(lambda: self._store.get(self._key(digest)).bytes()))
        except FileNotFoundError:
            return None

    def put(self, digest: str, data: bytes) -> None:
        self._asked(lambda: self._store.put(self._key(digest), data))

    def remove(self, digest: str) -> None:
        try:
            self._asked(lambda: self._store.delete(self._key(digest)))
        except FileNotFoundError:
            return

    def sizes(self) -> Iterator[tuple[str, int]]:
        """In order, as servers list names in that of their bytes."""
        store: Any = self._store  # whose list is of unknown types too, for another library's tables
        pages: Iterator[Sequence[Mapping[str, Any]]] = iter(store.list(chunk_size=1000))
        while (page := self._asked(lambda: next(pages, None))) is not None:
            for one in page:
                named = one["path"].replace("/", "")
                if DIGEST.fullmatch(named) and one["path"] == self._key(named):
                    yield named, one["size"]

    def lacking(self, digests: Collection[str]) -> set[str]:
        if len(digests) <= _ASKED_SINGLY:
            return {digest for digest in digests if not self._holds(digest)}
        return set(digests).difference(digest for digest, _ in self.sizes())

    def wrong_files(self) -> Iterator[StoreProblem]:
        return altered_in(self)

    def _key(self, digest: str) -> str:
        return f"{digest[:2]}/{digest[2:]}" if self._nested else digest

    def _holds(self, digest: str) -> bool:
        try:
            self._asked(lambda: self._store.head(self._key(digest)))
        except FileNotFoundError:
            return False
        return True

    def _asked(self, ask: Callable[[], T]) -> T:
        """Raises FileNotFoundError where there is no such file."""
        from obstore import exceptions

        try:
            return ask()
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._unusable("there is no such bucket", lasting=True) from None
            raise
        # Their own words may hold what the server was sent, a key's name among it.
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
            raise self._unusable("the server does not let us", lasting=True) from None
        except (exceptions.BaseError, OSError) as error:
            if "Credential" in str(error) or "credential" in str(error):
                raise self._unusable("no credentials are given", lasting=True) from None
            raise self._unusable(_state_in(str(error))) from None

    def _unusable(self, words: str, *, lasting: bool = False) -> PlaceError:
        error = PlaceError(
            f"The files in {self.where} cannot be used: {words}. Look at AWS_ENDPOINT_URL, AWS_REGION, "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in your environment, then run the same command again.",
        )
        error.lasting = lasting
        return error


def _state_in(words: str) -> str:
    """Of a server's answer no more than its number."""
    _, found, after = words.partition("status code: ")
    return f"the server answers {after[:3]}" if found else "the server does not answer"


def _joined(path: str, kind: str) -> str:
    return "/".join(part for part in (*path.split("/"), kind) if part)


def _bucket(bucket: str, prefix: str, where: str) -> "S3Store":
    try:
        from obstore.store import S3Store
    except ImportError as error:
        raise PlaceError(
            f"The files in {where} need the extra `s3` ({error.name} is missing); from the clone: pip install '.[s3]'.",
            code="EH-EXTRA-MISSING",
        ) from None
    endpoint = next((found for name in _ENDPOINTS if (found := os.environ.get(name))), None)
    more: dict[str, Any] = {} if endpoint is None else {"endpoint": endpoint}
    # Whoever names a server without TLS in the environment means it.
    plain = endpoint is not None and endpoint.startswith("http://")
    return S3Store(
        bucket,
        prefix=prefix,
        client_options={"allow_http": plain},
        retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
        **more,
    )
