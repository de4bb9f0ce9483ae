"""Pictures that are read rather than looked at: charts, plans, a map, a receipt, a chessboard."""

from collections.abc import Mapping
from dataclasses import dataclass

from tools.samples.canvas import Area, Canvas, Point
from tools.samples.visit_colours import BLUE, INK, RED, WHITE

GRID = "#d8dce3"


def bar_chart(title: str, bars: Mapping[str, int]) -> Canvas:
    """Bars of 0 to 60 with their values written above them."""
    canvas = Canvas(WHITE)
    canvas.text((200, 24), title, 20, INK)
    floor, pixels_per_unit = 258, 3.4
    for value in range(0, 61, 20):
        y = floor - value * pixels_per_unit
        canvas.box((46, y - 0.5, 388, y + 0.5), GRID)
        canvas.text((38, y), str(value), 14, INK, anchor="rm")
    step = 342 / len(bars)
    for place, (name, value) in enumerate(bars.items()):
        x = 46 + step * (place + 0.5)
        canvas.box((x - 22, floor - value * pixels_per_unit, x + 22, floor), BLUE)
        canvas.text((x, floor - value * pixels_per_unit - 11), str(value), 15, INK)
        canvas.text((x, 277), name, 16, INK)
    canvas.box((46, floor - 1, 388, floor + 1), INK)
    return canvas


@dataclass(frozen=True, slots=True)
class Room:
    name: str
    area: Area
    floor: str


_KITCHEN, _LIVING, _SLEEPING, _WET, _PASSAGE = "#fbe3c0", "#dcebd3", "#dfe0f4", "#cfe7f2", "#f1eee6"


def plan_around_hall() -> Canvas:
    """Four rooms, each with a single door, all onto the hall between them."""
    rooms = (
        Room("Kitchen", (30, 25, 180, 120), _KITCHEN),
        Room("Living room", (180, 25, 370, 120), _LIVING),
        Room("Hall", (30, 120, 370, 175), _PASSAGE),
        Room("Bedroom", (30, 175, 220, 275), _SLEEPING),
        Room("Bathroom", (220, 175, 370, 275), _WET),
    )
    canvas = _plan(rooms, doors=((90, 120), (275, 120), (110, 175), (290, 175)), side_doors=((370, 148),))
    canvas.text((335, 148), "Entrance", 12, INK)
    return canvas


def plan_with_largest(largest: str, other: str) -> Canvas:
    rooms = (
        Room(largest, (30, 25, 260, 200), _LIVING),
        Room(other, (260, 25, 370, 140), _SLEEPING),
        Room("Kitchen", (260, 140, 370, 275), _KITCHEN),
        Room("Bath", (30, 200, 140, 275), _WET),
        Room("Hall", (140, 200, 260, 275), _PASSAGE),
    )
    canvas = _plan(rooms, doors=((200, 200), (200, 275)), side_doors=((140, 237), (260, 237), (260, 82)))
    canvas.text((200, 289), "Entrance", 12, INK)
    return canvas


def seesaw_with_prop() -> Canvas:
    """A level seesaw, 2 kg left and 5 kg right, its right end held up by a wooden prop."""
    canvas = Canvas("#e8f1f5")
    canvas.box((0, 240, 400, 300), "#a9c98b")
    canvas.shape([(200, 168), (232, 240), (168, 240)], "#7d8794")
    canvas.box((338, 168, 354, 242), "#b5763f")
    canvas.text((346, 262), "prop", 15, INK)
    canvas.box((40, 158, 360, 170), "#8c5a34", radius=5)
    for x, label, fill in ((82, "2 kg", "#e0a23d"), (318, "5 kg", RED)):
        canvas.box((x - 30, 108, x + 30, 158), fill, radius=5)
        canvas.text((x, 133), label, 20, WHITE)
    return canvas


def forecast() -> Canvas:
    """Three days: sun and 24 degrees, cloud and 18, rain and 12."""
    canvas = Canvas("#5d86ad")
    canvas.text((200, 30), "3-day forecast", 22, WHITE)
    for x, day, degrees in ((75, "Mon", 24), (200, "Tue", 18), (325, "Wed", 12)):
        canvas.box((x - 55, 60, x + 55, 280), "#eaf2f8", radius=12)
        canvas.text((x, 86), day, 22, INK)
        canvas.text((x, 250), f"{degrees} °C", 24, INK)
    _sun(canvas, (75, 165))
    _cloud(canvas, (200, 165))
    _cloud(canvas, (325, 150))
    for x in (297, 316, 335, 354):
        canvas.stroke([(x, 186), (x - 7, 208)], BLUE, 4.5)
    return canvas


def town_map() -> Canvas:
    canvas = Canvas("#e6ecd9", width=440, height=320)
    for area in ((85, 0, 125, 320), (285, 0, 325, 320), (0, 95, 440, 135), (0, 220, 440, 260)):
        canvas.box(area, WHITE)
    canvas.text((205, 115), "Mill Road", 15, INK)
    canvas.text((205, 240), "Lake Road", 15, INK)
    canvas.text((105, 178), "Oak St", 13, INK)
    canvas.text((305, 178), "Elm St", 13, INK)
    canvas.box((132, 142, 278, 213), "#b5d69a", radius=6)
    canvas.text((205, 178), "Park", 16, "#3d6b35")
    for area, name, fill in (((210, 45, 278, 90), "Bakery", "#f3b562"), ((340, 145, 420, 205), "School", "#b9c3dd")):
        canvas.box(area, fill, radius=4)
        canvas.text(((area[0] + area[2]) / 2, (area[1] + area[3]) / 2), name, 15, INK)
    canvas.oval((335, 268, 435, 314), "#8ec9e6")
    canvas.text((385, 291), "Pond", 14, INK)
    _pin(canvas, (105, 308))
    canvas.shape([(405, 14), (415, 42), (405, 36), (395, 42)], INK)
    canvas.text((405, 54), "N", 16, INK)
    return canvas


def stained_receipt() -> Canvas:
    """Three prices; a coffee stain hides their total."""
    canvas = Canvas("#b98f66", width=320, height=340)
    canvas.box((64, 24, 264, 324), "#9d7650")
    canvas.box((56, 16, 256, 316), WHITE)
    canvas.text((156, 46), "CORNER SHOP", 20, INK)
    canvas.box((76, 66, 236, 68), INK)
    for y, name, price in ((98, "Bread", "3.20"), (132, "Milk", "1.50"), (166, "Apples", "2.80")):
        canvas.text((76, y), name, 19, INK, anchor="lm")
        canvas.text((236, y), price, 19, INK, anchor="rm")
    canvas.box((76, 192, 236, 194), INK)
    canvas.text((76, 222), "TOTAL", 20, INK, anchor="lm")
    canvas.disc((214, 226), 36, "#8a5a36")
    canvas.disc((214, 226), 30, "#a8764a")
    canvas.disc((170, 262), 6, "#a8764a")
    canvas.text((156, 290), "Thank you!", 16, INK)
    return canvas


def chess_corner(*, king: str, rook: str, pawn: str) -> Canvas:
    """Files a to f, ranks 1 to 4, with a black king, a white rook and a white pawn on the squares named."""
    canvas = Canvas("#5b4636")
    for row in range(4):
        canvas.text((17, 45 + 62 * row), str(4 - row), 15, WHITE)
        for column in range(6):
            x, y = 32 + 60 * column, 14 + 62 * row
            # a1, at the bottom left, is dark.
            canvas.box((x, y, x + 60, y + 62), "#b58863" if (row + column) % 2 else "#f0d9b5")
    for column, name in enumerate("abcdef"):
        canvas.text((62 + 60 * column, 280), name, 16, WHITE)
    _king(canvas, _square(king))
    _rook(canvas, _square(rook))
    _pawn(canvas, _square(pawn))
    return canvas


def _plan(rooms: tuple[Room, ...], *, doors: tuple[Point, ...], side_doors: tuple[Point, ...]) -> Canvas:
    """Doors are gaps in the walls, named by their middle; side doors are in walls that run up and down the plan."""
    canvas = Canvas(WHITE)
    for room in rooms:
        left, top, right, bottom = room.area
        canvas.box((left - 3, top - 3, right + 3, bottom + 3), room.floor, edge=INK, width=6)
    for room in rooms:
        left, top, right, bottom = room.area
        canvas.text(((left + right) / 2, (top + bottom) / 2), room.name, 17, INK)
    for x, y in doors:
        canvas.box((x - 18, y - 3, x + 18, y + 3), _PASSAGE)
    for x, y in side_doors:
        canvas.box((x - 3, y - 16, x + 3, y + 16), _PASSAGE)
    return canvas


def _sun(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    for dx, dy in ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7)):
        canvas.stroke([(x + 32 * dx, y + 32 * dy), (x + 42 * dx, y + 42 * dy)], "#efb32f", 5)
    canvas.disc((x, y), 25, "#f6c445")


def _cloud(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    grey = "#9fb0bf"
    canvas.box((x - 42, y, x + 42, y + 26), grey, radius=13)
    canvas.disc((x - 14, y), 20, grey)
    canvas.disc((x + 14, y + 3), 17, grey)


def _pin(canvas: Canvas, tip: Point) -> None:
    x, y = tip
    canvas.shape([(x - 13, y - 22), (x + 13, y - 22), (x, y)], RED)
    canvas.disc((x, y - 28), 15, RED)
    canvas.disc((x, y - 28), 6, WHITE)


def _square(name: str) -> Point:
    """The middle of a square such as `b4`."""
    column, rank = "abcdef".index(name[0]), int(name[1])
    return 62 + 60 * column, 45 + 62 * (4 - rank)


_BLACK, _IVORY, _EDGE = "#26221f", "#fffdf6", "#4a3c30"


def _piece(canvas: Canvas, corners: tuple[Point, ...], centre: Point, fill: str) -> None:
    """A filled outline around `centre`, edged so that ivory stands out from a light square."""
    points = [(centre[0] + dx, centre[1] + dy) for dx, dy in corners]
    canvas.shape(points, fill)
    canvas.stroke([*points, points[0]], _EDGE, 2)


def _foot(canvas: Canvas, centre: Point, fill: str) -> None:
    x, y = centre
    canvas.box((x - 19, y + 17, x + 19, y + 26), fill, radius=3, edge=_EDGE)


def _king(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    canvas.stroke([(x, y - 26), (x, y - 8)], _BLACK, 4)
    canvas.stroke([(x - 7, y - 20), (x + 7, y - 20)], _BLACK, 4)
    canvas.disc((x - 10, y - 3), 9, _BLACK)
    canvas.disc((x + 10, y - 3), 9, _BLACK)
    _piece(canvas, ((-18, -2), (18, -2), (13, 18), (-13, 18)), centre, _BLACK)
    _foot(canvas, centre, _BLACK)


def _rook(canvas: Canvas, centre: Point) -> None:
    _piece(canvas, ((-10, -8), (10, -8), (13, 18), (-13, 18)), centre, _IVORY)
    top = ((-16, -24), (-8, -24), (-8, -18), (-4, -18), (-4, -24), (4, -24), (4, -18), (8, -18), (8, -24), (16, -24))
    _piece(canvas, (*top, (16, -8), (-16, -8)), centre, _IVORY)
    _foot(canvas, centre, _IVORY)


def _pawn(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    _piece(canvas, ((-6, -4), (6, -4), (13, 18), (-13, 18)), centre, _IVORY)
    canvas.disc((x, y - 10), 10, _IVORY, edge=_EDGE)
    _foot(canvas, centre, _IVORY)
