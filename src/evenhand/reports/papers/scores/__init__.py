"""The papers' own tables, made of what the ledger holds."""

_PAPERS = ("visit-bench", "creation-mmbench")


def paper_of_benchmark(benchmark: str) -> str | None:
    """Whose paper's table this benchmark has, its sample too; None where it has none, whatever the protocol."""
    family = benchmark.removesuffix("-sample")
    return family if family in _PAPERS else None
