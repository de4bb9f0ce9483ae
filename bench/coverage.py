"""How often 95 % intervals hold a known truth, how wide they are, and how often something false is claimed.

    python -m bench.coverage [--repetitions 1000] [--seed 0] [--processes 1] [--only TEXT ...]

One row a design. An interval should hold the truth in 93 to 98 % of the repetitions and a false claim (equal models
told apart, a misfit where there is none) be made in at most 5 %; what lies outside is marked, and so is what lies
outside by no more than two simulation errors. The worst of many intervals is low by chance alone: it is marked where
fewer than one in twenty such boards of intervals that hold in 93 % would have one so low.
"""

import argparse
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from bench import coverage_agreement, coverage_designs, coverage_ranks, coverage_sizes
from bench.coverage_designs import Found

DESIGNS = {
    **coverage_designs.DESIGNS,
    **coverage_sizes.DESIGNS,
    **coverage_agreement.DESIGNS,
    **coverage_ranks.DESIGNS,
    **coverage_ranks.MISFITS,
}
LEAST, MOST, CLAIMS = 0.93, 0.98, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Of one design. NaN where it has no intervals, or no claims."""

    design: str
    repetitions: int
    held: float
    """Share of the intervals that hold the truth."""
    error: float
    """Simulation error of `held`; intervals of one repetition go together."""
    worst: float
    """The same share of the interval that holds it least often."""
    intervals: int
    """Of a repetition, of which that one is the worst."""
    width: float
    printed: float
    """Share of the repetitions that gave an interval."""
    claimed: float
    """Share of the repetitions in which something was claimed."""

    @property
    def worst_by_chance(self) -> float:
        """What the worst of so many independent intervals that each hold in 93 % falls below once in twenty times."""
        from scipy.stats import binom

        often = round(self.repetitions * self.printed)
        return float(binom.ppf(1 - 0.95 ** (1 / self.intervals), often, LEAST)) / often if often else 0.0

    @property
    def marks(self) -> list[str]:
        marks: list[str] = []
        if self.printed < 1 and (self.printed or np.isnan(self.claimed)):
            marks.append(f"an interval in {self.printed:.1%}")
        if self.held < LEAST:
            marks.append(f"BELOW 93 %{', by less than two errors' if self.held + 2 * self.error >= LEAST else ''}")
        if self.held > MOST:
            marks.append("above 98 %")
        if self.intervals > 1 and self.worst < self.worst_by_chance:
            marks.append("ITS WORST BELOW 93 % by more than chance")
        if self.design in coverage_ranks.MISFITS:
            return [*marks, "a misfit to be found"]
        error = (CLAIMS * (1 - CLAIMS) / self.repetitions) ** 0.5
        if self.claimed > CLAIMS:
            marks.append(f"MORE THAN 5 %{', by less than two errors' if self.claimed - 2 * error <= CLAIMS else ''}")
        return marks

    def __str__(self) -> str:
        shares = [self.held, self.error, self.worst]
        cells = ["" if np.isnan(share) else f"{share:.1%}" for share in shares]
        cells += ["" if np.isnan(self.width) else f"{self.width:.3g}"]
        cells += ["" if np.isnan(self.claimed) else f"{self.claimed:.1%}", "; ".join(self.marks)]
        return f"| {' | '.join([self.design, *cells])} |"


def covered(design: str, *, repetitions: int, seed: int = 0, processes: int = 1) -> Covered:
    seeds = [seed * 1_000_003 + one for one in range(repetitions)]
    if processes == 1:
        found = _some(design, seeds)
    else:
        parts = [seeds[start :: 4 * processes] for start in range(4 * processes)]
        with ProcessPoolExecutor(processes) as pool:
            found = [one for some in pool.map(_some, [design] * len(parts), parts) for one in some]
    return told(design, found)


def told(design: str, found: list[Found]) -> Covered:
    held = np.stack([one.held for one in found])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means over nothing but NaN
        each = np.nanmean(held, axis=1)
        return Covered(
            design=design,
            repetitions=len(found),
            held=float(np.nanmean(held)),
            error=float(np.nanstd(each) / np.sqrt(np.isfinite(each).sum())),
            worst=float(np.nanmin(np.nanmean(held, axis=0))),
            intervals=held.shape[1],
            width=float(np.nanmedian([one.width for one in found])),
            printed=float(np.isfinite(held).mean()),
            claimed=float(np.mean([one.claimed for one in found])),
        )


def _some(design: str, seeds: Iterable[int]) -> list[Found]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return [DESIGNS[design](np.random.default_rng(seed)) for seed in seeds]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--only", nargs="+", default=[""], help="designs whose names hold one of these")
    chosen = options.parse_args()
    wanted = [name for name in DESIGNS if any(part in name for part in chosen.only)]
    print(f"{len(wanted)} designs, {chosen.repetitions} repetitions of each, seed {chosen.seed}", flush=True)
    print("\n| design | holds | error | worst | width | claims | |\n|---|---|---|---|---|---|---|", flush=True)
    began = time.process_time()
    for design in wanted:
        found = covered(design, repetitions=chosen.repetitions, seed=chosen.seed, processes=chosen.processes)
        print(found, flush=True)
    print(f"\n{time.process_time() - began:.0f} s of CPU in this process")


if __name__ == "__main__":
    main()
