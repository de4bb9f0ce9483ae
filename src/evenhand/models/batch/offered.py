"""The wire on which an endpoint takes batches."""

from evenhand.domain.errors import Misuse
from evenhand.models.batch.anthropic import VERSION, AnthropicBatches
from evenhand.models.batch.chat import MistralBatches, OpenAIBatches
from evenhand.models.batch.service import BatchService
from evenhand.models.batch.wire import BatchWire
from evenhand.models.endpoint import Endpoint
from evenhand.models.provider import BatchOffer, providers
from evenhand.models.wire.openai import OpenAIWire
from evenhand.models.wires import ClientOptions


def batch_offer(endpoint: Endpoint | None) -> BatchOffer:
    """Raises Misuse where none are offered, as far as is known."""
    offer = None if endpoint is None else endpoint.provider.batch
    if offer is None:
        who = "An embedded model" if endpoint is None else endpoint.provider.name
        offering = ", ".join(name for name, one in providers().items() if one.batch is not None)
        raise Misuse(
            f"{who} takes no batches: leave out --batch. These do: {offering}, and a server of your own with OpenAI's "
            "files and batches.",
            code="EH-BATCH-REFUSED",
        )
    return offer


def batch_wire(endpoint: Endpoint, options: ClientOptions) -> BatchWire:
    """Raises Misuse where none are offered, a key is missing or a setting would be ignored."""
    offer = batch_offer(endpoint)
    endpoint.check_settings(options.explicit)
    key = endpoint.key(options.environment)
    own = {**VERSION, **({"x-api-key": key} if key else {})} if offer.wire == "anthropic" else None
    service = BatchService(endpoint, key=key, proxies=options.proxies, timeouts=options.timeouts, own_headers=own)
    if offer.wire == "anthropic":
        return AnthropicBatches(service, pictures=options.pictures, explicit=options.explicit)
    chat = OpenAIWire(
        endpoint,
        environment=options.environment,
        proxies=options.proxies,
        explicit=options.explicit,
        pictures=options.pictures,
        timeouts=options.timeouts,
    )
    return OpenAIBatches(service, chat) if offer.wire == "openai" else MistralBatches(service, chat)
