"""Judges beside people as a picture, and as one HTML page that needs nothing from anywhere else."""

from typing import Any

from evenhand.domain.estimate import Estimate
from evenhand.files.outputs import Place
from evenhand.format.charts import (
    ACCENT,
    LOSES,
    PAGE,
    PHONE,
    ChartError,
    Heading,
    chart_of,
    layered,
    save,
    the_altair,
    ticks,
    write_out,
)
from evenhand.format.figure import figure
from evenhand.format.html import rendered
from evenhand.format.words import unbroken
from evenhand.reports.alignment.report import AlignmentReport
from evenhand.reports.alignment.table import alignment_sheets, lead_sheet
from evenhand.reports.alignment.table7 import pair_sentences

_JUDGE, _PEOPLE = "the judge", "people with each other"


def plot(report: AlignmentReport, path: Place) -> None:
    """The page where the path ends in .html, else the picture. Raises ChartError where that cannot be."""
    if path.suffix.lower() == ".html":
        write_out(path, alignment_page(report).encode())
    else:
        save(alignment_chart(report), path)


def alignment_page(report: AlignmentReport) -> str:
    pictures = [
        figure(alignment_chart(report, width=width), kind=kind, larger=1.0 if kind else 1.2)
        for width, kind in ((PAGE, ""), (PHONE, "narrow"))
    ]
    return rendered(
        "reports/alignment/page.html",
        title=report.headline,
        notes=[unbroken(one) for one in (*report.conclusions, *report.notes)],
        pictures=pictures,
        lead=lead_sheet(report),
        sheets=alignment_sheets(report, "md"),
        tests=pair_sentences(report.pairs),
        judges=report.judges,
    )


def alignment_chart(report: AlignmentReport, *, width: int = PAGE) -> Any:
    """Raises ChartError where nobody can be compared."""
    alt = the_altair()
    rows = [row for row in _rows(report) if row["value"] is not None]
    if not rows:
        raise ChartError("There is nothing to draw: no two raters share a case.", code="EH-CHART-EMPTY")
    names = list(dict.fromkeys(row["name"] for row in rows))
    across = {"scale": alt.Scale(domain=[0, 1]), "axis": ticks(width, format=".0%"), "title": None}
    colours = alt.Color(
        "who:N",
        scale=alt.Scale(domain=[_JUDGE, _PEOPLE], range=[ACCENT, LOSES]),
        legend=alt.Legend(title=None, orient="bottom", columns=1) if report.judges else None,
    )
    base = chart_of(rows).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=260 if width >= PAGE else 110)),
        yOffset=alt.YOffset("who:N", sort=[_JUDGE, _PEOPLE]),
        color=colours,
    )
    lines = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x=alt.X("lower:Q", **across), x2=alt.X2("upper:Q"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x=alt.X("value:Q", **across))
    what = "How often judges agree with people" if report.judges else "How often each takes the side of the others"
    heading = Heading(title=what, subtitle="shares of the same comparisons, with 95 % intervals clustered by item")
    return layered(lines, points, heading=heading, width=width, height=alt.Step(22))


def _rows(report: AlignmentReport) -> list[dict[str, Any]]:
    if not report.judges:
        return [_row(one.rater, _JUDGE, one.pooled.agreement) for one in report.humans.raters]
    rows: list[dict[str, Any]] = []
    for one in report.judges:
        beside = one.beside_people
        if beside is None or beside.judge.agreement.value is None:
            rows.append(_row(one.alignment.rater, _JUDGE, one.alignment.pooled.agreement))
        else:
            rows.append(_row(one.alignment.rater, _JUDGE, beside.judge_side))
            rows.append(_row(one.alignment.rater, _PEOPLE, beside.people_side))
    return rows


def _row(name: str, who: str, share: Estimate) -> dict[str, Any]:
    return {"name": name, "who": who, "value": share.value, "lower": share.lower, "upper": share.upper}
