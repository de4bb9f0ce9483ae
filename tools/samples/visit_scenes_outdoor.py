"""Scenes under the open sky: a street, road signs, the sea, the weather."""

from math import cos, radians, sin
from typing import Literal

from tools.samples.canvas import Canvas, Point, scattered
from tools.samples.visit_colours import INK, WHITE

SKY = "#bfe3f5"
GRASS = "#8cbf6a"
ROAD = "#7d828c"
SIGNAL_RED = "#d23b34"
SIGNAL_BLUE = "#2766b1"
ROOF = "#8b4a3a"
SUN = "#f8cf4a"


def street() -> Canvas:
    """A yellow, a blue and a red house, whose doors are green, orange and white."""
    canvas = Canvas(SKY)
    _cloud(canvas, (90, 45), WHITE)
    _cloud(canvas, (300, 36), WHITE)
    canvas.box((0, 235, 400, 260), "#c9c4b8")
    canvas.box((0, 260, 400, 300), ROAD)
    for x in range(10, 400, 60):
        canvas.box((x, 278, x + 32, 283), WHITE)
    _house(canvas, 18, wall="#f0cf6b", door="#4c9a58")
    _house(canvas, 142, wall="#7aa7d9", door="#ee8434")
    _house(canvas, 266, wall="#d9655a", door=WHITE)
    return canvas


def parked_car(colour: str) -> Canvas:
    canvas = Canvas(SKY)
    canvas.disc((345, 50), 26, SUN)
    canvas.box((0, 190, 400, 240), GRASS)
    canvas.box((0, 225, 400, 300), ROAD)
    canvas.box((0, 222, 400, 230), "#c9c4b8")
    canvas.box((70, 110, 190, 222), "#efe3c8")
    canvas.shape([(56, 112), (130, 52), (204, 112)], ROOF)
    canvas.box((116, 162, 146, 222), "#7a5a3d", radius=3)
    for x in (82, 154):
        canvas.box((x, 132, x + 26, 156), "#a9d6ea", edge=WHITE, width=3)
    _tree(canvas, (300, 222))
    _car(canvas, (210, 272), colour)
    return canvas


def no_entry_sign() -> Canvas:
    canvas = _roadside()
    canvas.disc((200, 108), 80, WHITE)
    canvas.disc((200, 108), 75, SIGNAL_RED)
    canvas.box((148, 94, 252, 122), WHITE, radius=3)
    return canvas


def turn_sign(way: Literal["left", "right"]) -> Canvas:
    canvas = _roadside()
    canvas.disc((200, 108), 80, WHITE)
    canvas.disc((200, 108), 75, SIGNAL_BLUE)
    along = 1 if way == "right" else -1
    tail, neck, head = (200 + along * dx for dx in (-48, 13, 60))
    canvas.box((min(tail, neck), 98, max(tail, neck), 118), WHITE)
    canvas.shape([(neck, 70), (head, 108), (neck, 146)], WHITE)
    return canvas


def lighthouse() -> Canvas:
    canvas = Canvas(SKY)
    _cloud(canvas, (80, 60), WHITE)
    canvas.box((0, 190, 400, 300), "#3f88b5")
    for x, y in ((40, 215), (130, 240), (60, 268), (180, 280), (20, 292)):
        canvas.arc((x, y, x + 34, y + 12), 200, 340, "#8cc4e2", 2.5)
    canvas.shape([(190, 300), (215, 228), (262, 196), (345, 188), (400, 200), (400, 300)], "#7c756d")
    canvas.shape([(190, 300), (215, 228), (240, 250), (236, 300)], "#645e58")
    canvas.shape([(258, 198), (345, 188), (400, 200), (400, 212), (330, 202)], GRASS)
    _lighthouse_tower(canvas)
    _boat(canvas, (95, 218), "#c9573f", size=0.6)
    for x, y in ((150, 88), (190, 62), (128, 120)):
        _gull(canvas, (x, y))
    return canvas


def boats(sails: tuple[str, ...]) -> Canvas:
    """Sailing boats on a lake, one for each sail colour."""
    canvas = Canvas(SKY)
    canvas.disc((345, 48), 24, SUN)
    canvas.shape([(0, 150), (70, 92), (150, 150)], "#8fb59b")
    canvas.shape([(90, 150), (190, 105), (300, 150)], "#7aa58a")
    canvas.shape([(250, 150), (340, 98), (400, 130), (400, 150)], "#8fb59b")
    canvas.box((0, 148, 400, 300), "#5aa3cc")
    for x, y in ((20, 180), (330, 190), (150, 285), (250, 278), (40, 270), (340, 275)):
        canvas.arc((x, y, x + 36, y + 12), 200, 340, "#a3d2ea", 2.5)
    gap = 400 / (len(sails) + 1)
    for place, sail in enumerate(sails, start=1):
        _boat(canvas, (gap * place, 222 + 18 * (place % 2)), sail, size=1)
    return canvas


def balloon_at_sunset() -> Canvas:
    canvas = Canvas("#f9c08a")
    canvas.box((0, 0, 400, 70), "#e9917c")
    canvas.box((0, 70, 400, 125), "#f3a981")
    canvas.disc((300, 205), 46, "#ffe3a0")
    canvas.oval((-120, 190, 260, 400), "#8a5a83")
    canvas.oval((150, 205, 520, 420), "#6d4574")
    canvas.oval((-60, 245, 330, 440), "#543662")
    _balloon(canvas, (140, 92))
    return canvas


def snowy_thermometer() -> Canvas:
    """A snowed-in garden; a thermometer reads ten below zero."""
    canvas = Canvas("#cfdbe8")
    canvas.oval((-100, 200, 300, 420), WHITE)
    canvas.oval((120, 215, 520, 420), "#e8f0f8")
    _fir(canvas, (90, 235))
    _fir(canvas, (180, 222))
    for flake in scattered(44, (4, 0, 288, 300)):
        canvas.disc(flake, 3, WHITE)
    _thermometer(canvas)
    return canvas


def window(weather: Literal["sun", "rain"]) -> Canvas:
    """The view through a window with a sill."""
    canvas = Canvas("#f0e2cf")
    sky = "#9fd4f2" if weather == "sun" else "#98a8b0"
    canvas.box((70, 20, 330, 240), sky)
    canvas.oval((20, 190, 400, 330), GRASS if weather == "sun" else "#6f8f63")
    if weather == "sun":
        canvas.disc((260, 75), 30, SUN)
        _cloud(canvas, (130, 90), WHITE)
    else:
        _cloud(canvas, (140, 66), "#707880")
        _cloud(canvas, (255, 74), "#606870")
        for x, y in scattered(30, (84, 106, 326, 226)):
            canvas.stroke([(x, y), (x - 5, y + 15)], "#d7e7f2", 2.5)
    for area in ((0, 0, 70, 300), (330, 0, 400, 300), (70, 0, 330, 20), (70, 240, 330, 300)):
        canvas.box(area, "#f0e2cf")
    for area in ((62, 12, 338, 24), (62, 232, 338, 244), (62, 12, 74, 244), (326, 12, 338, 244), (195, 12, 205, 244)):
        canvas.box(area, WHITE)
    canvas.box((45, 242, 355, 260), "#b98555", radius=4)
    return canvas


def _roadside() -> Canvas:
    canvas = Canvas(SKY)
    canvas.box((0, 215, 400, 300), GRASS)
    canvas.shape([(250, 300), (395, 300), (330, 215), (316, 215)], ROAD)
    canvas.box((194, 180, 206, 285), "#9aa0a8")
    return canvas


def _cloud(canvas: Canvas, centre: Point, colour: str) -> None:
    x, y = centre
    canvas.box((x - 48, y, x + 48, y + 22), colour, radius=11)
    canvas.disc((x - 18, y), 18, colour)
    canvas.disc((x + 10, y - 6), 24, colour)


def _house(canvas: Canvas, left: float, *, wall: str, door: str) -> None:
    canvas.box((left, 125, left + 116, 236), wall)
    canvas.shape([(left - 8, 127), (left + 58, 70), (left + 124, 127)], ROOF)
    for x in (left + 12, left + 78):
        canvas.box((x, 140, x + 26, 168), "#d6ecf5", edge=WHITE, width=3)
    canvas.box((left + 41, 176, left + 75, 236), door, radius=3)
    canvas.disc((left + 69, 208), 2.5, INK)


def _tree(canvas: Canvas, foot: Point) -> None:
    x, y = foot
    canvas.box((x - 8, y - 60, x + 8, y), "#7b5436")
    canvas.disc((x - 22, y - 76), 28, "#5f9e57")
    canvas.disc((x + 22, y - 76), 28, "#5f9e57")
    canvas.disc((x, y - 102), 34, "#6aab60")


def _car(canvas: Canvas, foot: Point, colour: str) -> None:
    x, y = foot
    canvas.shape([(x - 48, y - 40), (x - 28, y - 70), (x + 34, y - 70), (x + 58, y - 40)], colour)
    canvas.shape([(x - 38, y - 42), (x - 23, y - 63), (x - 1, y - 63), (x - 1, y - 42)], "#d5eaf3")
    canvas.shape([(x + 5, y - 42), (x + 5, y - 63), (x + 30, y - 63), (x + 46, y - 42)], "#d5eaf3")
    canvas.box((x - 88, y - 44, x + 92, y - 12), colour, radius=12)
    canvas.disc((x + 84, y - 32), 6, "#fbe9a6")
    for dx in (-50, 52):
        canvas.disc((x + dx, y - 13), 19, "#2b2e38")
        canvas.disc((x + dx, y - 13), 9, "#c6cad1")


def _lighthouse_tower(canvas: Canvas) -> None:
    canvas.shape([(282, 192), (336, 192), (326, 78), (292, 78)], WHITE)
    for top in (97, 135, 173):
        # The tower is 17 pixels wide either side of its axis at 78 and widens by 10 down to 192.
        upper, lower = (17 + (y - 78) * 10 / 114 for y in (top, top + 19))
        canvas.shape(
            [(309 - upper, top), (309 + upper, top), (309 + lower, top + 19), (309 - lower, top + 19)], SIGNAL_RED
        )
    canvas.box((284, 70, 334, 79), INK)
    canvas.box((296, 46, 322, 70), "#fff0a8")
    canvas.box((307, 46, 311, 70), INK)
    canvas.shape([(290, 47), (309, 26), (328, 47)], SIGNAL_RED)
    canvas.box((303, 150, 316, 170), "#7fb5d3", radius=5)


def _boat(canvas: Canvas, foot: Point, sail: str, *, size: float) -> None:
    """`foot` is the middle of the hull at the waterline."""
    x, y = foot

    def at(*offsets: Point) -> list[Point]:
        return [(x + dx * size, y + dy * size) for dx, dy in offsets]

    canvas.stroke(at((0, -20), (0, -108)), "#6b4a33", 4 * size)
    canvas.shape(at((5, -104), (5, -28), (44, -28)), sail)
    canvas.shape(at((-5, -92), (-5, -28), (-34, -28)), WHITE)
    canvas.shape(at((-46, -22), (48, -22), (32, 2), (-32, 2)), "#7a4a2f")


def _gull(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    canvas.arc((x - 22, y - 6, x, y + 14), 200, 330, INK, 2.5)
    canvas.arc((x - 2, y - 6, x + 20, y + 14), 210, 340, INK, 2.5)


def _balloon(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    profile = [(68 * sin(radians(turn)), y - 68 * cos(radians(turn))) for turn in range(0, 131, 5)]
    profile.append((15, y + 92))
    for share, colour in ((1, "#d9483b"), (0.62, "#f6e7c1"), (0.22, "#d9483b")):
        right = [(x + half * share, height) for half, height in profile]
        left = [(x - half * share, height) for half, height in reversed(profile)]
        canvas.shape([*right, *left], colour)
    for way in (-1, 1):
        canvas.stroke([(x + way * 14, y + 91), (x + way * 11, y + 116)], "#4a3226", 2)
    canvas.box((x - 14, y + 114, x + 14, y + 136), "#8a5a33", radius=4)


def _fir(canvas: Canvas, foot: Point) -> None:
    x, y = foot
    canvas.box((x - 6, y - 16, x + 6, y), "#6b4a33")
    for half, low, high in ((40, 14, 62), (32, 44, 88), (23, 72, 116)):
        canvas.shape([(x - half, y - low), (x + half, y - low), (x, y - high)], "#4b7a63")
        canvas.shape([(x - half * 0.45, y - high + 22), (x + half * 0.45, y - high + 22), (x, y - high)], WHITE)


def _thermometer(canvas: Canvas) -> None:
    canvas.box((295, 18, 385, 282), WHITE, radius=14, edge="#9aa7b5", width=3)
    canvas.box((314, 34, 330, 250), "#dfe5ea", radius=8)
    canvas.disc((322, 250), 15, SIGNAL_RED)
    marks = ((20, 58), (10, 98), (0, 138), (-10, 178), (-20, 218))
    canvas.box((317, 178, 327, 245), SIGNAL_RED)
    for degrees, y in marks:
        canvas.box((333, y - 1, 343, y + 1), INK)
        canvas.text((378, y), str(degrees), 15, INK, anchor="rm")
