"""`evenhand benchmarks`: what there is to be asked."""

import json

import click

from evenhand.cli import options


@click.group("benchmarks", invoke_without_command=True)
@options.as_json
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """The benchmarks there are, with licence, counts and default protocols."""
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.benchmarks.catalog import benchmark_names, describe_benchmark
    from evenhand.reports.tables import console, print_rows

    infos = [describe_benchmark(name) for name in benchmark_names()]
    if as_json:
        click.echo(json.dumps({"schema": 1, "benchmarks": [info.as_json() for info in infos]}, ensure_ascii=False))
        return
    rows = [
        (info.name, str(info.counts.items) if info.counts else "–", info.licence, ", ".join(info.protocols), info.needs)
        for info in infos
    ]
    print_rows(("benchmark", "items", "licence", "protocols", "data"), rows, console())


@command.command("show")
@click.argument("name")
@options.as_json
def show(name: str, as_json: bool) -> None:
    """Everything about one benchmark."""
    from evenhand.benchmarks.catalog import describe_benchmark
    from evenhand.reports.tables import console, print_rows

    info = describe_benchmark(name)
    if as_json:
        click.echo(json.dumps({"schema": 1, **info.as_json()}, ensure_ascii=False))
        return
    click.echo(f"{info.name}: {info.title}")
    click.echo(f"licence    {info.licence}\ncitation   {info.citation}\nsource     {info.url}")
    click.echo(f"protocols  {', '.join(info.protocols)}\ndata       {info.needs}")
    if info.counts is not None:
        counts = info.counts
        click.echo(
            f"counts     {counts.items} items, {counts.images} images, {counts.captions} with a caption, "
            f"{counts.references} with a reference"
        )
        print_rows(("category", "items"), [(name, str(n)) for name, n in counts.categories], console())
