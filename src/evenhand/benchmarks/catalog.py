"""Which benchmarks there are, bundled or installed, and how to load one by name."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import cast

from evenhand.benchmarks.benchmark import BenchmarkInfo, ChoosingLoader, Loader, count, read_infos
from evenhand.benchmarks.data_error import BenchmarkError, near, quoted
from evenhand.benchmarks.files.own_items import OWN_FORMATS, OwnForm, is_own_file, read_own_items
from evenhand.benchmarks.grown_name import with_grown_name
from evenhand.domain.item import Benchmark
from evenhand.installed import points_of

OWN_PROTOCOL = "pairwise"
"""Under which items of one's own are judged when no other protocol is asked for."""
RUBRIC = "rubric"
"""Under which answers are graded where criteria are given and no protocol is asked for."""
GROUP = "evenhand.benchmarks"
"""Entry points of installed benchmarks: the benchmark's name = a package with benchmark.toml and load.py like ours."""


def benchmark_names() -> tuple[str, ...]:
    """Bundled names, then installed ones; nothing is imported to list them."""
    bundled = [info.name for info in _bundled()]
    installed = sorted({point.name for point in points_of(GROUP)} - set(bundled))
    return (*bundled, *installed)


def find_benchmark(name: str) -> BenchmarkInfo:
    """What benchmark.toml says, without counts. Raises BenchmarkError with near names."""
    for info in _bundled():
        if info.name == name:
            return info
    for point in points_of(GROUP):
        if point.name == name:
            return _installed(point)
    if Path(name).is_file():
        raise BenchmarkError(
            f"{name} is a file, and items are read from {', '.join(OWN_FORMATS)}: a row for each, with `item` (its "
            "name) and `instruction`, and with `images`, `caption` or `reference` where there are any.",
            code="EH-BENCHMARK-UNKNOWN",
        )
    names = benchmark_names()
    close = near(name, names)
    hint = f"did you mean {quoted(close)}?" if close else f"there are {quoted(names)}."
    raise BenchmarkError(
        f"There is no benchmark `{name}`; {hint} A file of your own is given by its path (items.csv).",
        code="EH-BENCHMARK-UNKNOWN",
    )


def describe_benchmark(name: str) -> BenchmarkInfo:
    """The same, with counts where the data is bundled."""
    info = find_benchmark(name)
    if info.items is None:
        return info
    return replace(info, counts=count(_load(info, info.items)))


def load_benchmark(
    name: str | Path,
    path: Path | str | None = None,
    *,
    reference: str | None = None,
    columns: Mapping[str, str] | None = None,
    image_root: Path | str | None = None,
    fenced: bool = False,
) -> Benchmark:
    """The benchmark of that name with the data at `path`, or of a file of items whose path is given as the name.

    `reference`: what plays as the reference, where the benchmark offers several. Of a file of items: `columns` says
    what those of other names mean, `image_root` from which folder it names its images, `fenced` that none outside of
    that folder is read, for a file that comes from others. Raises BenchmarkError.

    >>> bench = eh.load_benchmark("visit-bench-sample")
    >>> len(bench.items), bench.protocols
    (22, ('visit_pairwise',))
    """
    name = str(name)
    if is_own_file(name):
        if reference is not None:
            raise BenchmarkError(
                f"{name} has its own references and no choice of them; leave out `{reference}`.",
                code="EH-REFERENCE-UNKNOWN",
            )
        root = None if image_root is None else Path(image_root)
        own = _own_file(name, path, OwnForm(columns=columns or {}, image_root=root, fenced=fenced))
        renamed = ",".join(f"{theirs}={ours}" for theirs, ours in (columns or {}).items())
        return _with_flags(own, benchmark=name, columns=renamed, image_root=image_root)
    info = find_benchmark(name)
    if columns or image_root is not None:
        raise BenchmarkError(
            f"{name} knows its own columns and images; --columns and --image-root are for a file of your own items."
        )
    if info.items is not None and path is not None:
        raise BenchmarkError(f"{name} is bundled and takes no data; leave out {path}.")
    data = info.items or path
    if data is None:
        raise BenchmarkError(f"{name} needs its data (--data PATH). {info.needs}", code="EH-DATA-NEEDED")
    loaded = _load(info, Path(data), reference=reference)
    return _with_flags(loaded, benchmark=name, data=path, reference=reference)


def _with_flags(loaded: Benchmark, **flags: Path | str | None) -> Benchmark:
    return replace(loaded, flags={name: str(value) for name, value in flags.items() if value})


def bundled_answers(benchmark: Benchmark) -> tuple[Path, ...]:
    """The files of stand-in models' answers that come with a sample.

    >>> [path.name for path in eh.bundled_answers(eh.load_benchmark("visit-bench-sample"))]
    ['answers.jsonl']
    """
    if not benchmark.sample:
        return ()
    answers = find_benchmark(benchmark.name).answers
    return (answers,) if answers else ()


def answers_in_copy(benchmark: str, folder: Path) -> list[dict[str, object]] | None:
    """Records of the answers in a copy of the benchmark's own repository; None where they come as files of their own.

    Raises BenchmarkError.
    """
    if is_own_file(benchmark) or benchmark not in benchmark_names():
        return None
    read: object = getattr(import_module(f"{find_benchmark(benchmark).package}.load"), "answers", None)
    return None if read is None else cast("Callable[[Path], list[dict[str, object]]]", read)(folder)


def _own_file(name: str, path: Path | str | None, form: OwnForm) -> Benchmark:
    if path is not None:
        raise BenchmarkError(f"{name} is itself a file of items; leave out {path}.")
    read = read_own_items(Path(name), form)
    loaded = Benchmark(
        name=Path(name).stem,
        items=read.items,
        licence="not stated",
        citation="not stated",
        protocols=(OWN_PROTOCOL,),
        pictures=read.pictures,
        licences=read.licences,
        origins=read.origins,
        sources=read.sources,
        notes=read.notes,
    )
    return with_grown_name(loaded, Path(name))


@cache
def _bundled() -> tuple[BenchmarkInfo, ...]:
    here = Path(__file__).parent
    return tuple(
        info
        for toml in sorted(here.glob("*/benchmark.toml"))
        for info in read_infos(toml.parent, f"{__package__}.{toml.parent.name}")
    )


def _installed(point: EntryPoint) -> BenchmarkInfo:
    try:
        package = cast("object", point.load())
    except Exception as error:  # a package of somebody else may fail in any way
        raise BenchmarkError(f"The installed benchmark `{point.name}` cannot be imported: {error}.") from error
    if not isinstance(package, ModuleType) or package.__file__ is None:
        raise BenchmarkError(f"The entry point of the installed benchmark `{point.name}` must name a package.")
    try:
        infos = read_infos(Path(package.__file__).parent, package.__name__)
    except BenchmarkError as error:
        raise BenchmarkError(f"The installed benchmark `{point.name}` cannot be used: {error}") from error
    for info in infos:
        if info.name == point.name:
            return info
    raise BenchmarkError(f"The benchmark.toml of {point.value} does not describe `{point.name}`.")


def _load(info: BenchmarkInfo, path: Path, *, reference: str | None = None) -> Benchmark:
    try:
        load: object = import_module(f"{info.package}.load").load
    except (ImportError, AttributeError) as error:
        raise BenchmarkError(f"The benchmark `{info.name}` has no load.py that can be used: {error}.") from error
    if reference is None:
        return cast("Loader", load)(info, path)
    if reference not in info.references:
        there = f"there are {quoted(info.references)}." if info.references else "it has no choice of them."
        raise BenchmarkError(f"{info.name} has no references `{reference}`; {there}", code="EH-REFERENCE-UNKNOWN")
    return cast("ChoosingLoader", load)(info, path, reference=reference)
