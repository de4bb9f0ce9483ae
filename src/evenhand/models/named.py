"""A model by the name a user gives it: on an endpoint, by a package's wire, or embedded in this process."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.domain.call import Request
from evenhand.domain.errors import Misuse
from evenhand.models.client import ModelClient
from evenhand.models.endpoint import Endpoint, resolve
from evenhand.models.prices import TokenCounter
from evenhand.models.wire.body import Pictures
from evenhand.models.wire.timeouts import Timeouts
from evenhand.models.wires import ClientOptions, client_of, find_wire

if TYPE_CHECKING:
    from evenhand.models.local.client import LocalWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    name: str
    model: str
    """As its endpoint knows it."""
    identity: str
    """Endpoint identity: what a call's key holds instead of an address."""
    endpoint: Endpoint | None
    """None for an embedded model."""
    weights: "LocalWeights | None" = None

    def check(self, request: Request | None, *, explicit: frozenset[str]) -> tuple[str, ...]:
        """What of the request's defaults would be sent otherwise, in sentences; needs no key and sends nothing.

        `request` None: nothing is left to be asked. Raises Misuse where the request would be refused before it is sent.
        """
        if self.weights is not None:
            from evenhand.models.local.client import check_local

            if request is not None:
                check_local(self.weights, request)
            return ()
        assert self.endpoint is not None
        self.endpoint.check_settings(explicit)
        if request is None or find_wire(self.endpoint.provider.name) is not None:
            return ()
        from evenhand.models.wire.body import BodyShape, BodyWriter

        written = BodyWriter(self.endpoint, explicit=explicit, pictures=None)
        return written.fixed(request, BodyShape.of(self.endpoint)).adapted

    def check_tier(self, tier: str | None, *, batch: bool = False) -> None:
        """Misuse where its service has no such tier, or its calls go through batches."""
        if batch and tier is not None:
            raise Misuse(
                "--batch and --service-tier are two prices for one call: give one of them.", code="EH-SETTING-REFUSED"
            )
        if self.endpoint is not None:
            self.endpoint.check_tier(tier)
        elif tier is not None:
            raise Misuse(
                f"{self.name} runs in this process, which has no service tiers: leave --service-tier out.",
                code="EH-SETTING-REFUSED",
            )

    def tokenizer(self) -> TokenCounter | None:
        """Its own, where it is at hand: an embedded model's is."""
        if self.weights is None:
            return None
        from evenhand.models.local.tokenizer import LocalTokenizer

        return LocalTokenizer(self.weights)

    def client(
        self,
        *,
        environment: Mapping[str, str],
        proxies: Mapping[str, str] | None = None,
        explicit: frozenset[str],
        pictures: Pictures,
        timeouts: Timeouts | None = None,
        tier: str | None = None,
    ) -> ModelClient:
        """As OpenAIWire takes them. Raises Misuse where a key is missing or a setting would be ignored."""
        if self.weights is not None:
            from evenhand.models.local.client import LocalModel

            return LocalModel(self.weights)
        assert self.endpoint is not None
        wire = find_wire(self.endpoint.provider.name)
        if wire is not None:
            options = ClientOptions(
                environment=environment,
                proxies=proxies or {},
                explicit=explicit,
                pictures=pictures,
                timeouts=timeouts or Timeouts(),
            )
            return client_of(wire, self.endpoint, options)
        from evenhand.models.wire.openai import OpenAIWire

        return OpenAIWire(
            self.endpoint,
            environment=environment,
            proxies=proxies,
            explicit=explicit,
            pictures=pictures,
            timeouts=timeouts,
            tier=tier,
        )


def named_model(
    name: str,
    *,
    environment: Mapping[str, str],
    cache: Path,
    base_url: str | None = None,
    api_key_env: str | None = None,
    endpoint_name: str | None = None,
    url_flag: str = "--base-url",
    key_flag: str = "--api-key-env",
) -> NamedModel:
    """Needs no key and asks nothing; raises Misuse for a name that cannot be meant, with the flags in its sentences."""
    if name.startswith("local/") and base_url is None:
        if endpoint_name:
            raise Misuse("--endpoint-name is for a server of your own; an embedded model is known by its weights.")
        from evenhand.models.local.client import resolve_local

        weights = resolve_local(name, cache=cache)
        return NamedModel(
            name=weights.name, model=weights.name, identity=weights.sha256, endpoint=None, weights=weights
        )
    endpoint = resolve(
        name,
        base_url=base_url,
        api_key_env=api_key_env,
        endpoint_name=endpoint_name,
        environment=environment,
        url_flag=url_flag,
        key_flag=key_flag,
    )
    return NamedModel(name=endpoint.name, model=endpoint.model, identity=endpoint.identity, endpoint=endpoint)
