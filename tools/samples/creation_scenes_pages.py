"""Scenes to read, to plan from, or to see the point of."""

from collections.abc import Sequence

from tools.samples.canvas import Area, Canvas, Point
from tools.samples.creation_colours import (
    BLUE,
    DARK_WOOD,
    GRID,
    INK,
    LEAF,
    NIGHT,
    ORANGE,
    PAPER,
    RED,
    STONE,
    SUN,
    WHITE,
    WOOD,
)


def damaged_parcel() -> Canvas:
    """An open parcel with a crushed corner, and a blue teapot in pieces."""
    canvas = Canvas("#e7dfd2")
    canvas.box((0, 210, 400, 300), "#b98c62")
    canvas.shape([(60, 120), (226, 120), (226, 240), (96, 240), (60, 206)], "#caa06a")
    canvas.shape([(60, 206), (96, 240), (84, 200)], "#a37b48")
    canvas.shape([(60, 120), (28, 90), (150, 84), (226, 120)], "#d9b27e")
    canvas.shape([(226, 120), (258, 88), (268, 150), (226, 170)], "#b88c56")
    canvas.box((126, 120, 158, 240), "#e8d5ae")
    canvas.box((78, 150, 120, 178), WHITE)
    canvas.text((99, 164), "FRAGILE", 8, RED)
    canvas.slice((258, 180, 344, 268), 30, 200, BLUE)
    canvas.shape([(300, 214), (336, 184), (348, 212), (318, 232)], BLUE)
    canvas.shape([(352, 250), (384, 238), (376, 268), (356, 272)], BLUE)
    canvas.shape([(262, 262), (292, 270), (270, 284)], "#3f6fa8")
    canvas.arc((344, 186, 388, 226), 250, 60, BLUE, 8)
    for x, y in ((250, 280), (320, 278), (340, 240), (232, 266)):
        canvas.shape([(x, y), (x + 9, y + 3), (x + 2, y + 9)], "#3f6fa8")
    return canvas


def teapot_receipt() -> Canvas:
    canvas = Canvas("#8d9bb0", width=320, height=340)
    canvas.box((58, 26, 270, 326), "#707f96")
    canvas.box((50, 18, 262, 318), PAPER)
    canvas.text((156, 50), "TEA & CLAY", 24, INK)
    canvas.text((156, 76), "Order 4417", 16, INK)
    canvas.text((156, 98), "3 March", 15, INK)
    canvas.box((70, 116, 242, 118), INK)
    for y, name, price in ((144, "Blue teapot", "38.00"), (174, "Green tea", "9.50"), (204, "Delivery", "4.50")):
        canvas.text((70, y), name, 17, INK, anchor="lm")
        canvas.text((242, y), price, 17, INK, anchor="rm")
    canvas.box((70, 226, 242, 228), INK)
    canvas.text((70, 254), "TOTAL", 20, INK, anchor="lm")
    canvas.text((242, 254), "52.00", 20, INK, anchor="rm")
    canvas.text((156, 292), "Paid. Thank you!", 15, INK)
    return canvas


def soup_ingredients() -> Canvas:
    """A pumpkin, an onion, three carrots, a carton of cream and an empty pot."""
    canvas = Canvas("#f1e4d0")
    canvas.box((0, 150, 400, 300), WOOD)
    for y in (196, 248):
        canvas.box((0, y, 400, y + 2), "#b47c49")
    for area in ((30, 96, 110, 196), (100, 96, 180, 196), (62, 90, 148, 200)):
        canvas.oval(area, ORANGE, edge="#c96f25", width=3)
    canvas.box((98, 74, 112, 96), LEAF, radius=4)
    canvas.disc((220, 184), 28, "#c98a4b", edge="#a86f36")
    canvas.shape([(210, 160), (220, 136), (230, 160)], "#c98a4b")
    for y in (226, 248, 270):
        canvas.shape([(60, y - 8), (60, y + 8), (158, y)], "#ef7f32")
        for dy in (-6, 0, 6):
            canvas.stroke([(60, y), (36, y + dy)], LEAF, 4)
    canvas.box((262, 112, 310, 196), WHITE, edge=GRID)
    canvas.shape([(262, 113), (286, 88), (310, 113)], "#e6ecf2")
    canvas.text((286, 156), "CREAM", 12, BLUE)
    canvas.box((236, 226, 356, 286), "#5d6672", radius=10)
    canvas.oval((236, 214, 356, 240), "#3d454f")
    for x in (222, 350):
        canvas.box((x, 240, x + 20, 250), "#3d454f", radius=4)
    return canvas


def flat_plan() -> Canvas:
    """A kitchen without a window beside a large living room with three; the wall between them has no door."""
    canvas = Canvas(WHITE)
    rooms = (
        ("Kitchen\n8 sqm", (30, 30, 140, 140), "#fbe3c0"),
        ("Living room\n26 sqm", (140, 30, 370, 180), "#dcebd3"),
        ("Hall\n7 sqm", (30, 140, 140, 270), "#f1eee6"),
        ("Bath\n5 sqm", (140, 180, 230, 270), "#cfe7f2"),
        ("Bedroom\n13 sqm", (230, 180, 370, 270), "#dfe0f4"),
    )
    for name, (left, top, right, bottom), floor in rooms:
        canvas.box((left - 3, top - 3, right + 3, bottom + 3), floor, edge=INK, width=6)
        canvas.text(((left + right) / 2, (top + bottom) / 2), name, 14, INK)
    for x, y in ((85, 140), (300, 180)):
        canvas.box((x - 17, y - 3, x + 17, y + 3), "#f1eee6")
    for x, y in ((140, 160), (140, 224), (30, 205)):
        canvas.box((x - 3, y - 15, x + 3, y + 15), "#f1eee6")
    for area in ((170, 26, 220, 34), (270, 26, 320, 34), (366, 80, 374, 130), (366, 205, 374, 245)):
        canvas.box(area, "#7fc1e6", edge=INK, width=1.5)
    canvas.text((12, 205), "IN", 11, RED)
    canvas.box((160, 286, 176, 294), "#7fc1e6", edge=INK, width=1.5)
    canvas.text((182, 290), "window", 12, INK, anchor="lm")
    return canvas


def upload_diagram() -> Canvas:
    """Browser, API, queue, workers, storage and database, joined by numbered arrows."""
    canvas = Canvas(PAPER, width=496, height=300)
    boxes: Sequence[tuple[str, Area, str]] = (
        ("Browser", (16, 40, 106, 96), "#cfe3f5"),
        ("Upload API", (176, 40, 286, 96), "#dcebd3"),
        ("Storage", (366, 40, 464, 96), "#fbe3c0"),
        ("Queue", (176, 170, 286, 226), "#f3d3d0"),
        ("Workers x3", (366, 170, 464, 226), "#dfe0f4"),
        ("Database", (16, 170, 106, 226), "#f1eee6"),
    )
    for name, area, colour in boxes:
        canvas.box(area, colour, radius=8, edge=INK, width=2)
        canvas.text(((area[0] + area[2]) / 2, (area[1] + area[3]) / 2), name, 16, INK)
    _arrow(canvas, (106, 68), (176, 68), "1 photo")
    _arrow(canvas, (286, 68), (366, 68), "2 save")
    _arrow(canvas, (231, 96), (231, 170), "3 job")
    _arrow(canvas, (286, 198), (366, 198), "4 take")
    _arrow(canvas, (415, 170), (415, 96), "5 preview")
    _arrow(canvas, (176, 84), (86, 170), "6 record")
    canvas.text((240, 270), "Photo upload service", 18, INK)
    return canvas


def amphora() -> Canvas:
    canvas = Canvas("#4b4652")
    canvas.shape([(120, 0), (280, 0), (330, 300), (70, 300)], "#5d5766")
    canvas.box((130, 232, 270, 300), "#e3ddd2")
    canvas.box((118, 222, 282, 236), WHITE, radius=3)
    clay, black = "#c9703a", "#2a2226"
    canvas.oval((148, 84, 252, 206), clay)
    canvas.shape([(178, 190), (222, 190), (212, 222), (188, 222)], clay)
    canvas.box((180, 52, 220, 104), clay)
    canvas.box((170, 42, 230, 58), black, radius=4)
    for area in ((142, 56, 188, 116), (212, 56, 258, 116)):
        canvas.arc(area, 90 if area[0] < 180 else 270, 270 if area[0] < 180 else 90, clay, 9)
    canvas.box((152, 118, 248, 124), black)
    canvas.box((152, 168, 248, 174), black)
    canvas.stroke([(176, 150), (208, 148)], black, 9)
    canvas.stroke([(208, 148), (218, 132), (226, 134)], black, 6)
    for x, dx in ((178, -8), (186, 2), (204, 6), (212, 14)):
        canvas.stroke([(x, 150), (x + dx, 165)], black, 4)
    canvas.stroke([(176, 150), (166, 142)], black, 3)
    canvas.text((200, 258), "Amphora with a horse", 12, INK)
    canvas.text((200, 278), "Clay, 5th century BC", 11, INK)
    return canvas


def bulb_advertisement() -> Canvas:
    """A light bulb grows on a stem out of a pot of earth, among the lines of an advertisement."""
    canvas = Canvas("#f2f0e4")
    canvas.box((0, 0, 400, 58), LEAF)
    canvas.text((200, 30), "Grow bright.", 30, WHITE)
    canvas.shape([(152, 226), (248, 226), (236, 282), (164, 282)], "#b5653f")
    canvas.box((144, 214, 256, 230), "#9c5433", radius=3)
    canvas.stroke([(200, 214), (200, 168)], LEAF, 7)
    canvas.oval((152, 178, 200, 202), LEAF)
    canvas.oval((200, 186, 244, 208), LEAF)
    canvas.disc((200, 112), 66, "#fdf3c4")
    canvas.disc((200, 112), 40, "#fbe07a")
    canvas.shape([(180, 142), (220, 142), (214, 160), (186, 160)], "#fbe07a")
    canvas.box((184, 156, 216, 172), STONE, radius=3)
    canvas.stroke([(188, 140), (192, 112), (200, 122), (208, 112), (212, 140)], ORANGE, 2.5)
    canvas.text((72, 268), "VERDA", 24, LEAF)
    canvas.text((330, 262), "100 % wind\nand sun", 15, INK)
    return canvas


def cat_meme() -> Canvas:
    """Two panels: a cat beside a full cup, "My plan for Monday"; the cup on the floor, "Monday"."""
    canvas = Canvas(WHITE, width=400, height=360)
    for top, words in ((0, "My plan for Monday"), (184, "Monday")):
        canvas.box((0, top, 400, top + 176), "#e9dcc8")
        canvas.box((0, top, 400, top + 29), WHITE)
        canvas.text((200, top + 14), words, 21, INK)
        canvas.box((70, top + 124, 270, top + 134), DARK_WOOD)
        canvas.box((86, top + 134, 98, top + 176), DARK_WOOD)
        _cat(canvas, (140, top + 124))
    canvas.box((222, 96, 252, 124), BLUE, radius=4)
    canvas.arc((244, 100, 264, 118), 270, 90, BLUE, 4)
    canvas.stroke([(230, 90), (234, 82), (230, 74)], STONE, 2.5)
    canvas.stroke([(244, 90), (248, 82), (244, 74)], STONE, 2.5)
    canvas.oval((282, 340, 390, 358), "#7a4a2a")
    canvas.shape([(296, 330), (316, 322), (322, 346), (302, 350)], BLUE)
    canvas.shape([(334, 338), (352, 330), (350, 350)], BLUE)
    canvas.stroke([(178, 290), (226, 296)], "#5f6470", 11)
    return canvas


def town_map() -> Canvas:
    """Six places with their opening days; the museum is closed on Mondays and the ferry goes at 14:00."""
    canvas = Canvas("#e6ecd9", width=480, height=340)
    canvas.shape([(330, 0), (480, 0), (480, 340), (390, 340), (350, 200)], "#8ec9e6")
    for road in ([(0, 90), (345, 90)], [(0, 240), (365, 240)], [(110, 0), (110, 340)], [(260, 0), (260, 340)]):
        canvas.stroke(road, WHITE, 15)
    places: Sequence[tuple[Point, str, str, str]] = (
        ((52, 46), "Station", "start here", INK),
        ((186, 46), "Museum", "Tue - Sun", RED),
        ((186, 160), "Old Square", "always open", ORANGE),
        ((52, 160), "Castle Park", "8 - 20", LEAF),
        ((186, 292), "Market Hall", "daily till 13:00", "#8a5aa6"),
        ((316, 190), "Harbour", "ferry 14:00", BLUE),
    )
    for (x, y), name, opening, colour in places:
        canvas.box((x - 47, y - 25, x + 47, y + 25), PAPER, radius=6, edge=colour, width=3)
        canvas.text((x, y - 8), name, 15, colour)
        canvas.text((x, y + 11), opening, 11, INK)
    canvas.text((52, 292), "Lindholm", 22, INK)
    canvas.shape([(396, 150), (446, 150), (434, 168), (406, 168)], RED)
    canvas.stroke([(420, 150), (420, 122)], INK, 3)
    canvas.shape([(424, 124), (444, 146), (424, 146)], WHITE)
    return canvas


def visitors_chart() -> Canvas:
    canvas = Canvas(WHITE)
    canvas.text((200, 24), "Library visitors 2024 (thousands)", 17, INK)
    floor = 256
    for value in range(0, 31, 10):
        y = floor - value * 6.6
        canvas.box((44, y - 0.5, 388, y + 0.5), GRID)
        canvas.text((36, y), str(value), 13, INK, anchor="rm")
    for place, (name, value) in enumerate(
        (("Jan", 12), ("Mar", 14), ("May", 15), ("Jul", 9), ("Sep", 22), ("Nov", 27))
    ):
        x = 74 + 57 * place
        canvas.box((x - 19, floor - value * 6.6, x + 19, floor), RED if name == "Jul" else BLUE)
        canvas.text((x, floor - value * 6.6 - 10), str(value), 14, INK)
        canvas.text((x, 274), name, 15, INK)
    canvas.box((44, floor - 1, 388, floor + 1), INK)
    return canvas


def library_notice() -> Canvas:
    canvas = Canvas("#cdb892")
    canvas.box((58, 26, 350, 282), "#a8916a")
    canvas.box((50, 20, 342, 276), PAPER)
    for x in (62, 330):
        canvas.disc((x, 32), 6, RED)
    canvas.text((196, 58), "CITY LIBRARY", 24, NIGHT)
    lines = ("Closed for repairs:", "1 July - 28 July", "", "Since 1 September", "open until 21:00", "and on Sundays")
    for number, words in enumerate(lines):
        canvas.text((196, 102 + 27 * number), words, 18, RED if number == 1 else INK)
    return canvas


def _arrow(canvas: Canvas, start: Point, end: Point, words: str) -> None:
    (x, y), (to_x, to_y) = start, end
    length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
    dx, dy = (to_x - x) / length, (to_y - y) / length
    canvas.stroke([start, (to_x - 8 * dx, to_y - 8 * dy)], INK, 2.5)
    tip = [end, (to_x - 11 * dx - 6 * dy, to_y - 11 * dy + 6 * dx), (to_x - 11 * dx + 6 * dy, to_y - 11 * dy - 6 * dx)]
    canvas.shape(tip, INK)
    middle = ((x + to_x) / 2, (y + to_y) / 2)
    if abs(dy) < 0.5:
        canvas.text((middle[0], middle[1] - 11), words, 13, INK)
    else:
        canvas.text((middle[0] + 8, middle[1] - 4), words, 13, INK, anchor="lm")


def _cat(canvas: Canvas, seat: Point) -> None:
    x, y = seat
    fur = "#5f6470"
    canvas.oval((x - 34, y - 58, x + 40, y), fur)
    canvas.disc((x + 18, y - 62), 22, fur)
    for dx in (4, 32):
        canvas.shape([(x + dx - 9, y - 74), (x + dx, y - 94), (x + dx + 9, y - 74)], fur)
    for dx in (11, 27):
        canvas.disc((x + dx, y - 64), 5, SUN)
        canvas.disc((x + dx, y - 64), 2.4, INK)
    canvas.shape([(x + 15, y - 54), (x + 23, y - 54), (x + 19, y - 49)], "#e8a2a2")
    canvas.stroke([(x - 30, y - 8), (x - 56, y - 4), (x - 62, y - 24)], fur, 9)
    canvas.box((x + 8, y - 16, x + 34, y), fur, radius=6)
