"""Draws every picture of the bundled samples: `python -m tools.samples.draw`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tools.samples import creation_scenes_pages as pages
from tools.samples import creation_scenes_stories as stories
from tools.samples import visit_scenes_diagrams as diagrams
from tools.samples import visit_scenes_outdoor as outdoor
from tools.samples import visit_scenes_rooms as rooms
from tools.samples import visit_scenes_tabletop as tabletop
from tools.samples.canvas import Canvas
from tools.samples.visit_colours import GREEN, YELLOW

Scenes = Mapping[str, Callable[[], Canvas]]

VISIT_BENCH: Scenes = {
    "s01": lambda: tabletop.apples(red=5, green=2),
    "s02": outdoor.street,
    "s03": tabletop.omelette_ingredients,
    "s04": outdoor.no_entry_sign,
    "s05": lambda: diagrams.bar_chart("Ice creams sold", {"Mon": 20, "Tue": 35, "Wed": 30, "Thu": 50, "Fri": 45}),
    "s06": rooms.puddle_at_power_strip,
    "s07": outdoor.lighthouse,
    "s08": diagrams.plan_around_hall,
    "s09": rooms.plank,
    "s10": tabletop.overwatered_plant,
    "s11a": lambda: rooms.living_room(cat="sofa", cushion=YELLOW),
    "s11b": lambda: rooms.living_room(cat=None, cushion=GREEN),
    "s12a": lambda: outdoor.boats(("#d9534a", "#f2b53d")),
    "s12b": lambda: outdoor.boats(("#d9534a", "#f2b53d", "#7a5aa6")),
    "s13": diagrams.seesaw_with_prop,
    "s14": outdoor.balloon_at_sunset,
    "s15": diagrams.forecast,
    "s16": diagrams.town_map,
    "s17": diagrams.stained_receipt,
    "s18": lambda: diagrams.chess_corner(king="b4", rook="e4", pawn="d2"),
    "s19a": lambda: tabletop.mug_and_book(top="book"),
    "s19b": lambda: tabletop.mug_and_book(top="mug"),
    "s20a": outdoor.snowy_thermometer,
    "s20b": rooms.wardrobe,
    "s21a": lambda: tabletop.candle(height=85),
    "s21b": lambda: tabletop.candle(height=145),
    "s21c": lambda: tabletop.candle(height=32),
    "s22": lambda: tabletop.jars_on_shelves(upper=6, lower=4),
    "t01a": lambda: tabletop.apples(red=4, green=0),
    "t01b": lambda: tabletop.apples(red=6, green=0),
    "t02a": lambda: outdoor.parked_car("#cf4038"),
    "t02b": lambda: outdoor.parked_car("#2f6fb5"),
    "t03a": lambda: rooms.clock(hour=4),
    "t03b": lambda: rooms.clock(hour=8),
    "t04a": lambda: outdoor.turn_sign("left"),
    "t04b": lambda: outdoor.turn_sign("right"),
    "t05a": lambda: diagrams.bar_chart("Fruit sold (kg)", {"Apples": 30, "Pears": 45, "Plums": 25}),
    "t05b": lambda: diagrams.bar_chart("Fruit sold (kg)", {"Apples": 30, "Pears": 25, "Plums": 45}),
    "t06a": lambda: outdoor.window("sun"),
    "t06b": lambda: outdoor.window("rain"),
    "t07a": lambda: rooms.living_room(cat="sofa", cushion="#c9605a"),
    "t07b": lambda: rooms.living_room(cat="rug", cushion="#c9605a"),
    "t08a": lambda: diagrams.chess_corner(king="b3", rook="e3", pawn="d2"),
    "t08b": lambda: diagrams.chess_corner(king="b3", rook="e4", pawn="d2"),
    "t09a": lambda: diagrams.plan_with_largest("Living room", "Bedroom"),
    "t09b": lambda: diagrams.plan_with_largest("Bedroom", "Living room"),
    "t10a": lambda: rooms.face("happy"),
    "t10b": lambda: rooms.face("sad"),
}

CREATION_MMBENCH: Scenes = {
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

BENCHMARKS = Path(__file__).parents[2] / "src" / "evenhand" / "benchmarks"


def draw_all(scenes: Scenes, folder: Path) -> None:
    """Write each scene into `folder` as `NAME.png`, over what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in scenes.items():
        scene().finished().save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    draw_all(VISIT_BENCH, BENCHMARKS / "visit_bench" / "sample" / "images")
    draw_all(CREATION_MMBENCH, BENCHMARKS / "creation_mmbench" / "sample" / "images")
