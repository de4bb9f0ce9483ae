"""The blocks of flags of commands that ask a model: where it is, how it samples, how much it is asked."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import DataOptions, ItemOptions, option
from evenhand.domain.trial import See

Fence: TypeAlias = Literal["none", "nonce", "token"]
JudgeReadout: TypeAlias = Literal["free", "constrained"]


def insecure_http() -> bool:
    return option(
        "--insecure-http",
        is_flag=True,
        help="Send a key over http:// to another machine, where anybody on the way can read it.",
    )


def price() -> tuple[str, ...]:
    return option(
        "--price",
        multiple=True,
        help="Dollars per million tokens: input=2.5,output=10[,cached=1.25][,batch=0.5][,tier=0.5].",
    )


def service_tier() -> str | None:
    return option("--service-tier", help="The model's service tier where its provider has some: flex, priority …")


def max_cost() -> float | None:
    return option(
        "--max-cost",
        type=click.FloatRange(0),
        help="Dollars this run may spend, however often it is killed; it stops cleanly before.",
    )


def dry_run() -> bool:
    return option("--dry-run", is_flag=True, help="Only say what would be asked and what it would cost.")


def workers() -> int:
    return option(
        "--workers",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        help="Processes of this machine that share the work; limits and budget are those of all together.",
    )


def runner() -> str | None:
    return option(
        "--runner",
        metavar="RAY",
        help="Let Ray start the --workers, which then help this process: `ray` on this machine, or on the Ray that "
        "RAY_ADDRESS names; ray://HOST:PORT on a cluster.",
    )


def no_wait() -> bool:
    return option(
        "--no-wait",
        is_flag=True,
        help="Leave to other runs on the ledger what they are asking, with exit code 3, instead of waiting for it.",
    )


def endpoint_name() -> str | None:
    return option("--endpoint-name", help="A lasting name for a server whose address changes.")


def image_detail() -> str | None:
    return option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="The OpenAI `detail` value.")


def max_image_edge() -> int | None:
    return option("--max-image-edge", type=click.IntRange(16), help="Shrink images to this many pixels.")


def readout() -> JudgeReadout:
    return option("--readout", type=click.Choice(["free", "constrained"]), default="free", show_default=True)


def fence(shown: str = "answers") -> Fence:
    return option(
        "--fence",
        type=click.Choice(["none", "nonce", "token"]),
        default="none",
        show_default=True,
        help=f"nonce: wrap the {shown}. token: read only a closing line with a token that no candidate knows.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAddress:
    """A model as the user names it and where it is asked, with the flags that say so."""

    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    endpoint_name: str | None = None
    url_flag: str = "--base-url"
    key_flag: str = "--api-key-env"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    temperature: float | None = option("--temperature", type=click.FloatRange(0, 5), help="Sampling temperature.")
    top_p: float | None = option("--top-p", type=click.FloatRange(0, 1), help="Nucleus sampling.")
    max_tokens: int | None = option("--max-tokens", type=click.IntRange(1), help="Output tokens at most.")
    sampling_seed: int | None = option("--sampling-seed", type=int, help="Seed that the endpoint samples with.")
    stop: tuple[str, ...] = option("--stop", multiple=True, help="Text that ends the output; repeatable.")
    reasoning_effort: str | None = option("--reasoning-effort", help="For models that reason: low, medium, high …")
    extra_body: str | None = option("--extra-body", help="JSON object of further fields of the request's body.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceOptions:
    max_connections: int = option(
        "--max-connections", type=click.IntRange(1, 1024), default=64, show_default=True, help="Calls in flight."
    )
    rpm: float | None = option("--rpm", type=click.FloatRange(0, min_open=True), help="Requests a minute at most.")
    tpm: float | None = option("--tpm", type=click.FloatRange(0, min_open=True), help="Tokens a minute at most.")
    max_retries: int = option(
        "--max-retries", type=click.IntRange(0), default=6, show_default=True, help="Retries of one call."
    )
    timeout: float = option(
        "--timeout", type=click.FloatRange(0, min_open=True), default=600.0, show_default=True, help="Seconds."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    batch: bool = option(
        "--batch", is_flag=True, help="Send the calls in the provider's batches: cheaper, and they may take a day."
    )
    batch_wait: float | None = option(
        "--batch-wait",
        type=click.FloatRange(0),
        help="With --batch, seconds to wait for the replies; 0 only sends, and the same command again collects.",
    )
    batch_resend: bool = option(
        "--batch-resend",
        is_flag=True,
        help="With --batch, send again what another key sent and nobody can collect: it may be paid for twice.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions:
    """How a model is asked, how fast, and for how much."""

    sampling: SamplingOptions
    pace: PaceOptions
    batching: BatchOptions
    max_cost: float | None = max_cost()
    price: tuple[str, ...] = price()
    service_tier: str | None = service_tier()
    dry_run: bool = dry_run()
    workers: int = workers()
    runner: str | None = runner()
    no_wait: bool = no_wait()
    trust_folder: bool = options.trust_folder()
    insecure_http: bool = insecure_http()

    @property
    def alone(self) -> bool:
        """Whether one process does it all."""
        return self.workers == 1 and self.runner is None


def go_on() -> bool:
    return option(
        "--go-on", is_flag=True, help="Ask on where none of the first 20 replies could be read; else the run pauses."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerAskingOptions:
    """The same of a worker, whose budgets the owner sets on the pages."""

    max_cost: ClassVar[None] = None
    batching: ClassVar[BatchOptions] = BatchOptions()
    no_wait: ClassVar[bool] = True

    sampling: SamplingOptions
    pace: PaceOptions
    price: tuple[str, ...] = price()
    service_tier: str | None = service_tier()
    trust_folder: bool = options.trust_folder()
    insecure_http: bool = insecure_http()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingAgainOptions:
    """The same of what a judge is asked again: how it samples is on record."""

    sampling: ClassVar[SamplingOptions] = SamplingOptions()
    batching: ClassVar[BatchOptions] = BatchOptions()

    pace: PaceOptions
    max_cost: float | None = max_cost()
    price: tuple[str, ...] = price()
    service_tier: str | None = service_tier()
    dry_run: bool = dry_run()
    no_wait: bool = no_wait()
    trust_folder: bool = options.trust_folder()
    insecure_http: bool = insecure_http()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeServerOptions:
    base_url: str | None = option("--base-url", help="Address of the judge's server, if --judge-base-url is not given.")
    judge_base_url: str | None = option("--judge-base-url", help="Address of the judge's server.")
    judge_api_key_env: str | None = option("--judge-api-key-env", help="Variable that holds the judge's key.")
    endpoint_name: str | None = endpoint_name()

    def of(self, judge: str) -> ModelAddress:
        own = bool(self.judge_base_url) or not self.base_url
        return ModelAddress(
            model=judge,
            base_url=self.judge_base_url if own else self.base_url,
            api_key_env=self.judge_api_key_env,
            endpoint_name=self.endpoint_name,
            url_flag="--judge-base-url" if own else "--base-url",
            key_flag="--judge-api-key-env",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorOptions:
    extractor: str | None = option(
        "--extractor",
        help="Model that finds the decision in a reply that has no readable one; the judge by default.",
    )
    extractor_base_url: str | None = option("--extractor-base-url", help="Address of the extractor's server.")
    extractor_api_key_env: str | None = option(
        "--extractor-api-key-env", help="Variable that holds the extractor's key."
    )

    def address(self) -> ModelAddress | None:
        """None where the judge extracts itself. Raises WrongUse for a server or a key of nobody."""
        if self.extractor is None:
            refuse_alone("extractor", base_url=self.extractor_base_url, api_key_env=self.extractor_api_key_env)
            return None
        return ModelAddress(
            model=self.extractor,
            base_url=self.extractor_base_url,
            api_key_env=self.extractor_api_key_env,
            url_flag="--extractor-base-url",
            key_flag="--extractor-api-key-env",
        )


def refuse_alone(who: str, **given: str | None) -> None:
    """Raises WrongUse for a setting of a model that is not named."""
    for name, value in given.items():
        if value is not None:
            raise WrongUse(f"--{who}-{name.replace('_', '-')} goes with --{who}, which names the model.")


NO_EXTRACTOR = ExtractorOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowingOptions:
    """What a judge is shown, and how it is read."""

    see: See | None = option(
        "--see", type=click.Choice(["images", "caption", "both", "none"]), help="What the judge is shown of the image."
    )
    readout: JudgeReadout = readout()
    fence: Fence = fence()
    extraction: ExtractorOptions
    image_detail: str | None = image_detail()
    max_image_edge: int | None = max_image_edge()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOptions:
    retry_failed: bool = option("--retry-failed", is_flag=True, help="Ask only what failed before; plan nothing new.")
    retry_reason: tuple[str, ...] = option(
        "--retry-reason",
        multiple=True,
        type=click.Choice(["refused", "truncated", "unreadable", "conflicting"]),
        help="Ask again what ended for this reason; the first verdict counts. Repeatable.",
    )


def refuse_retrying_together(retry: RetryOptions, asking: AskingOptions) -> None:
    """Raises WrongUse: a process that came later would ask again what another has just asked again."""
    if retry.retry_reason and not asking.alone:
        raise WrongUse("--retry-reason asks each trial once more, by one process: leave out --workers and --runner.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionJudgeOptions:
    """Who judges what teams submit: how it is asked the board says."""

    judge: str | None = option(
        "--judge", help="provider/model that judges submissions; the one that judged their board."
    )
    judge_base_url: str | None = option("--judge-base-url", help="Address of the judge's server.")
    judge_api_key_env: str | None = option("--judge-api-key-env", help="Variable that holds the judge's key.")
    judge_endpoint_name: str | None = option(
        "--judge-endpoint-name", help="A lasting name for a judge's server whose address changes."
    )
    extraction: ExtractorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswererOptions:
    """Of commands where a model says something about every item."""

    source: DataOptions
    model: str = option("--model", required=True, help="provider/model, or local/smollm2.")
    name: str | None = option("--name", help="The model's name on record and on the boards; its own by default.")
    base_url: str | None = option("--base-url", help="Address of the model's server.")
    api_key_env: str | None = option("--api-key-env", help="Variable that holds the key.")
    endpoint_name: str | None = endpoint_name()
    chosen: ItemOptions
    seed: int = options.seed("Random seed of --sample.")
    image_detail: str | None = image_detail()
    max_image_edge: int | None = max_image_edge()
    replace: bool = option(
        "--replace", is_flag=True, help="Ask again where the ledger holds another answer, and use the new one."
    )
