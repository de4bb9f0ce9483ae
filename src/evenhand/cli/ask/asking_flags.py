"""The flags of every command that asks a model."""

from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.options import all_of, option, reference

trust_folder = options.trust_folder(exposed=True)
insecure_http = option(
    "--insecure-http",
    is_flag=True,
    help="Send a key over http:// to another machine, where anybody on the way can read it.",
)

settings_flags = all_of(
    [
        option("--temperature", type=click.FloatRange(0, 5), help="Sampling temperature."),
        option("--top-p", type=click.FloatRange(0, 1), help="Nucleus sampling."),
        option("--max-tokens", type=click.IntRange(1), help="Output tokens at most."),
        option("--sampling-seed", type=int, help="Seed that the endpoint samples with."),
        option("--stop", multiple=True, help="Text that ends the output; repeatable."),
        option("--reasoning-effort", help="For models that reason: low, medium, high …"),
        option("--extra-body", help="JSON object of further fields of the request's body."),
    ]
)

_PACE = [
    option("--max-connections", type=click.IntRange(1, 1024), default=64, show_default=True, help="Calls in flight."),
    option("--rpm", type=click.FloatRange(0, min_open=True), help="Requests a minute at most."),
    option("--tpm", type=click.FloatRange(0, min_open=True), help="Tokens a minute at most."),
    option("--max-retries", type=click.IntRange(0), default=6, show_default=True, help="Retries of one call."),
    option("--timeout", type=click.FloatRange(0, min_open=True), default=600.0, show_default=True, help="Seconds."),
]
price = option("--price", multiple=True, help="Dollars per million tokens: input=2.5,output=10[,cached=1.25].")

how_much_flags = all_of(
    [
        *_PACE,
        option(
            "--max-cost",
            type=click.FloatRange(0),
            help="Dollars this run may spend, however often it is killed; it stops cleanly before.",
        ),
        price,
        option("--dry-run", is_flag=True, help="Only say what would be asked and what it would cost."),
        trust_folder,
        insecure_http,
    ]
)

pace_flags = all_of([*_PACE, price, trust_folder, insecure_http])
"""Of commands whose budget is set elsewhere."""

submission_flags = all_of(
    [
        option("--judge", help="provider/model that judges submissions; the one that judged their board."),
        option("--judge-base-url", help="Address of the judge's server."),
        option("--judge-api-key-env", help="Variable that holds the judge's key."),
        option("--judge-endpoint-name", help="A lasting name for a judge's server whose address changes."),
        option("--extractor", help="Model that finds the decision in an unreadable reply; the judge by default."),
        option("--extractor-base-url", help="Address of the extractor's server."),
        option("--extractor-api-key-env", help="Variable that holds the extractor's key."),
    ]
)
"""Who judges what teams submit: how it is asked the board says."""

who_answers_flags = all_of(
    [
        option("--data", type=click.Path(path_type=Path), help="The benchmark's file, where it is not bundled."),
        reference,
        option("--model", required=True, help="provider/model, or local/smollm2."),
        option("--name", help="The model's name on record and on the boards; its own by default."),
        option("--base-url", help="Address of the model's server."),
        option("--api-key-env", help="Variable that holds the key."),
        option("--endpoint-name", help="A lasting name for a server whose address changes."),
        option("--limit", type=click.IntRange(1), help="Only the first N items."),
        option("--sample", type=click.IntRange(1), help="Only N items, sampled with --seed."),
        option("--category", multiple=True, help="Only items of this category; repeatable."),
        option("--items", multiple=True, help="Only these items; repeatable."),
        option("--seed", type=int, default=0, show_default=True, help="Random seed of --sample."),
        option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="The OpenAI `detail` value."),
        option("--max-image-edge", type=click.IntRange(16), help="Shrink images to this many pixels."),
        option(
            "--replace",
            is_flag=True,
            help="Ask again where the ledger holds another answer, and use the new one.",
        ),
    ]
)
"""Of commands where a model says something about every item."""
