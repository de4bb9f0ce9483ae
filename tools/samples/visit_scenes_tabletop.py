"""Scenes on tables and shelves: fruit, ingredients, a plant, a candle."""

from math import cos, radians, sin
from typing import Literal

from tools.samples.canvas import Canvas, Point, bend
from tools.samples.visit_colours import DARK_WOOD, GREEN, INK, LEAF, RED, WHITE, WOOD, YELLOW


def apples(red: int, green: int) -> Canvas:
    """Apples in up to two rows of four on a wooden table, the red ones first."""
    canvas = _table()
    colours = [RED] * red + [GREEN] * green
    for place, colour in enumerate(colours):
        row, column = divmod(place, 4)
        _apple(canvas, (80 + 80 * column, 158 + 75 * row), colour)
    return canvas


def omelette_ingredients() -> Canvas:
    canvas = _table()
    _frying_pan(canvas, (302, 190))
    for x, y in ((60, 175), (100, 185), (140, 175)):
        canvas.oval((x - 17, y - 22, x + 17, y + 22), "#f7e3cf", edge="#dcbf9f", width=1.5)
    for x, y in ((70, 245), (120, 250)):
        _tomato(canvas, (x, y))
    _cheese(canvas, (158, 268))
    return canvas


def overwatered_plant() -> Canvas:
    canvas = Canvas("#eef0e2")
    canvas.box((0, 225, 400, 300), WOOD)
    canvas.oval((95, 243, 265, 283), "#b9c4cc")
    canvas.oval((103, 246, 257, 277), "#79bfe6")
    canvas.shape([(128, 160), (232, 160), (215, 264), (145, 264)], "#c4673f")
    canvas.box((120, 148, 240, 172), "#d67a50", radius=4)
    canvas.oval((128, 144, 232, 158), "#5b3f2b")
    _drooping_leaves(canvas)
    _watering_can(canvas)
    return canvas


def mug_and_book(*, top: Literal["mug", "book"]) -> Canvas:
    canvas = Canvas("#e9e4f0")
    canvas.box((0, 225, 400, 300), WOOD)
    canvas.box((0, 225, 400, 233), DARK_WOOD)
    if top == "mug":
        _book(canvas, (200, 225))
        _mug(canvas, (200, 187))
    else:
        _mug(canvas, (200, 225))
        _book(canvas, (200, 143))
    return canvas


def candle(height: int) -> Canvas:
    """A lit candle on a dish; `height` of its wax in pixels, 30 to 150."""
    canvas = Canvas("#39405f", width=320)
    top = 232 - height
    canvas.disc((160, top - 26), 58, "#4b5174")
    canvas.disc((160, top - 26), 40, "#66688a")
    canvas.box((0, 250, 320, 300), "#6d4a35")
    canvas.oval((95, 222, 225, 258), "#c9ccd6")
    canvas.oval((105, 224, 215, 248), "#e6e8ee")
    canvas.box((135, top, 185, 236), "#f6e9c9", radius=7)
    canvas.box((169, top + 6, 185, 232), "#e5d3a8", radius=7)
    canvas.oval((135, top - 5, 185, top + 9), "#fff6df")
    canvas.stroke([(160, top + 1), (160, top - 12)], INK, 3)
    canvas.shape([(160, top - 52), (174, top - 22), (160, top - 8), (146, top - 22)], "#f7a83b")
    canvas.disc((160, top - 20), 13.5, "#f7a83b")
    canvas.disc((160, top - 17), 7, "#ffe28a")
    return canvas


def jars_on_shelves(upper: int, lower: int) -> Canvas:
    canvas = Canvas("#a9c4b4")
    jams = ("#c8443f", "#8e4b86", "#e39a3b")
    for floor, count in ((140, upper), (260, lower)):
        canvas.box((20, floor, 380, floor + 12), DARK_WOOD, radius=2)
        canvas.box((20, floor, 380, floor + 4), WOOD, radius=2)
        for place in range(count):
            _jar(canvas, 54 + place * 58, floor, jams[place % len(jams)])
    return canvas


def _table() -> Canvas:
    canvas = Canvas("#f4ead8")
    canvas.box((0, 110, 400, 300), WOOD)
    canvas.box((0, 110, 400, 118), "#d9a470")
    for y in (170, 235):
        canvas.box((0, y, 400, y + 2), "#b67d4b")
    return canvas


def _apple(canvas: Canvas, centre: Point, colour: str) -> None:
    x, y = centre
    canvas.oval((x - 26, y + 17, x + 26, y + 31), "#a66f41")
    canvas.disc((x - 9, y), 20, colour)
    canvas.disc((x + 9, y), 20, colour)
    canvas.oval((x - 22, y - 8, x + 22, y + 26), colour)
    canvas.oval((x - 20, y - 11, x - 10, y + 3), "#f4d9c8")
    canvas.stroke([(x, y - 13), (x + 3, y - 27)], "#6b4429", 4)
    canvas.oval((x + 4, y - 30, x + 24, y - 19), LEAF)


def _tomato(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    canvas.oval((x - 24, y - 20, x + 24, y + 21), "#e0483c")
    canvas.oval((x - 17, y - 12, x - 7, y - 1), "#f29a8e")
    star = [
        (x + r * sin(radians(36 * i)), y - 13 - 0.6 * r * cos(radians(36 * i)))
        for i in range(10)
        for r in [4 + 9 * (i % 2)]
    ]
    canvas.shape(star, LEAF)
    canvas.stroke([(x, y - 14), (x + 2, y - 23)], LEAF, 3.5)


def _cheese(canvas: Canvas, corner: Point) -> None:
    x, y = corner
    canvas.shape([(x, y - 26), (x + 78, y - 52), (x + 78, y - 26)], "#f9dc7b")
    canvas.shape([(x, y - 26), (x + 78, y - 26), (x + 78, y + 8), (x, y + 8)], YELLOW)
    for dx, dy, radius in ((16, -10, 6), (38, -2, 5), (58, -13, 7)):
        canvas.disc((x + dx, y + dy), radius, "#d9a12e")


def _frying_pan(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    canvas.stroke([(x + 20, y - 20), (x + 88, y - 88)], "#2c2f3a", 13)
    canvas.disc((x, y), 64, "#3a3f4d")
    canvas.disc((x, y), 53, "#555c6c")
    canvas.arc((x - 42, y - 42, x + 42, y + 42), 190, 250, "#7d8596", 4)


def _drooping_leaves(canvas: Canvas) -> None:
    stem, leaf, vein = "#a9a04a", "#e3c84f", "#bfa233"
    for reach, peak in ((-86, 40), (86, 48), (-46, 8), (46, 14)):
        tip = (180.0 + reach, peak + 52.0)
        canvas.stroke(bend((180, 150), (180 + reach * 0.6, peak - 24), tip), stem, 4)
        point = (tip[0] + reach * 0.08, tip[1] + 56)
        outer = bend(tip, (tip[0] + 26, tip[1] + 22), point)
        inner = bend(point, (tip[0] - 26, tip[1] + 22), tip)
        canvas.shape([*outer, *inner], leaf)
        canvas.stroke([tip, point], vein, 1.5)


def _watering_can(canvas: Canvas) -> None:
    body, shade = "#5b8fb9", "#46779e"
    canvas.arc((338, 172, 394, 244), 270, 90, shade, 7)
    canvas.stroke([(310, 240), (276, 200)], body, 9)
    canvas.shape([(264, 202), (284, 184), (288, 197), (276, 209)], shade)
    canvas.box((302, 190, 368, 262), body, radius=6)
    canvas.oval((302, 184, 368, 200), shade)


def _book(canvas: Canvas, foot: Point) -> None:
    """A closed book lying flat, 38 pixels thick."""
    x, y = foot
    canvas.box((x - 100, y - 38, x + 100, y), "#3f7a5c", radius=5)
    canvas.box((x - 84, y - 31, x + 95, y - 7), WHITE, radius=2)
    for dy in (25, 19, 13):
        canvas.box((x - 80, y - dy, x + 92, y - dy + 1.2), "#d6cdb8")


def _mug(canvas: Canvas, foot: Point) -> None:
    x, y = foot
    canvas.oval((x + 20, y - 66, x + 64, y - 18), None, edge="#bf3f38", width=9)
    canvas.box((x - 38, y - 82, x + 38, y), RED, radius=9)
    canvas.box((x - 38, y - 50, x + 38, y - 34), WHITE)


def _jar(canvas: Canvas, x: float, floor: float, jam: str) -> None:
    canvas.box((x - 22, floor - 62, x + 22, floor), "#f4f7f6", radius=9)
    canvas.box((x - 18, floor - 48, x + 18, floor - 4), jam, radius=7)
    canvas.box((x - 13, floor - 36, x + 13, floor - 16), WHITE, radius=2)
    canvas.box((x - 19, floor - 72, x + 19, floor - 58), "#7b8794", radius=3)
