"""Draws every picture of the sample: `python -m evenhand.benchmarks.creation_mmbench.sample.draw`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from evenhand.benchmarks.visit_bench.sample.canvas import Canvas

from . import scenes_pages as pages
from . import scenes_stories as stories

SCENES: Mapping[str, Callable[[], Canvas]] = {
    "fox_1": stories.fox_finds_balloon,
    "fox_2": stories.fox_in_the_air,
    "fox_3": stories.fox_on_the_roof,
    "lake": stories.lake_at_dusk,
    "mushroom": stories.hedgehog_and_snail,
    "bench": stories.park_bench,
    "village": stories.snowy_village,
    "harbour": stories.harbour_market,
    "cable_car": stories.cable_car,
    "cafe": stories.cafe_front,
    "parcel": pages.damaged_parcel,
    "receipt": pages.teapot_receipt,
    "ingredients": pages.soup_ingredients,
    "plan": pages.flat_plan,
    "diagram": pages.upload_diagram,
    "amphora": pages.amphora,
    "bulb": pages.bulb_advertisement,
    "meme": pages.cat_meme,
    "map": pages.town_map,
    "visitors": pages.visitors_chart,
    "notice": pages.library_notice,
}


def draw_all(folder: Path) -> None:
    """Write each scene into `folder` as `NAME.png`, over what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in SCENES.items():
        scene().finished().save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    draw_all(Path(__file__).parent / "images")
