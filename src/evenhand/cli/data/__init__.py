"""Commands for what goes in and out: import, export, ledger, benchmarks, protocols, models, describe."""
