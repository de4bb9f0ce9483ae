"""Scenes of rooms and people: a living room, a wardrobe, a clock on the wall, a face."""

from math import cos, radians, sin
from typing import Literal

from tools.samples.canvas import Canvas, Point, bend
from tools.samples.visit_colours import DARK_WOOD, INK, RED, WHITE, YELLOW


def puddle_at_power_strip() -> Canvas:
    canvas = Canvas("#dfe7ea")
    canvas.box((0, 150, 400, 300), "#cdb89c")
    canvas.box((0, 144, 400, 152), WHITE)
    _floor_lamp(canvas, (175, 182), height=164)
    _tipped_bucket(canvas)
    water = "#7ec3ea"
    canvas.oval((92, 205, 345, 278), water)
    canvas.oval((70, 222, 190, 262), water)
    canvas.oval((255, 215, 385, 258), water)
    canvas.oval((130, 218, 205, 232), "#b4def5")
    _power_strip(canvas)
    return canvas


def plank() -> Canvas:
    """Somebody on forearms and toes on a mat, body straight."""
    canvas = Canvas("#e4eef2")
    canvas.box((0, 215, 400, 300), "#cfae88")
    canvas.box((30, 236, 370, 256), "#6aa6a0", radius=8)
    canvas.box((30, 246, 370, 256), "#568d88", radius=5)
    skin, shirt, trousers = "#e0a580", "#d9604c", "#3f4a6b"
    canvas.stroke([(75, 222), (82, 238)], "#f7f4ee", 13)
    canvas.stroke([(80, 215), (190, 186)], trousers, 22)
    canvas.stroke([(190, 186), (280, 165)], shirt, 30)
    canvas.stroke([(282, 168), (284, 228)], skin, 15)
    canvas.stroke([(284, 232), (336, 232)], skin, 14)
    canvas.stroke([(282, 166), (283, 190)], shirt, 19)
    canvas.stroke([(290, 160), (312, 152)], skin, 14)
    canvas.disc((326, 146), 21, skin)
    canvas.slice((304, 123, 346, 165), 165, 330, "#5a3b28")
    canvas.disc((309, 133), 8, "#5a3b28")
    canvas.disc((338, 150), 2.2, INK)
    return canvas


def living_room(*, cat: Literal["sofa", "rug"] | None = "sofa", cushion: str = YELLOW) -> Canvas:
    canvas = Canvas("#dce6e0")
    canvas.box((0, 210, 400, 300), "#d2b48c")
    canvas.box((0, 206, 400, 212), WHITE)
    _picture_frame(canvas)
    _floor_lamp(canvas, (352, 240), height=190)
    _sofa(canvas)
    canvas.box((102, 138, 150, 186), cushion, radius=10)
    canvas.oval((70, 238, 330, 292), "#b5675a")
    canvas.oval((86, 243, 314, 287), "#cf8474")
    if cat == "sofa":
        _cat(canvas, (222, 190))
    elif cat == "rug":
        _cat(canvas, (200, 272))
    return canvas


def wardrobe() -> Canvas:
    """Three garments on hangers: a T-shirt, a thin raincoat, a padded winter coat."""
    canvas = Canvas("#c99a6b")
    canvas.box((15, 15, 385, 285), "#7d5433", radius=6)
    canvas.box((28, 28, 372, 272), "#a87648", radius=3)
    canvas.box((28, 46, 372, 53), "#d5d8dd")
    _t_shirt(canvas, 90)
    _raincoat(canvas, 200)
    _winter_coat(canvas, 312)
    return canvas


def clock(hour: int) -> Canvas:
    """A wall clock at a full hour."""
    canvas = Canvas("#d9e4ec", width=320)
    centre = (160.0, 150.0)
    canvas.disc((160, 156), 118, "#bccbd6")
    canvas.disc(centre, 118, "#2f5d73")
    canvas.disc(centre, 104, WHITE)
    for number in range(1, 13):
        canvas.text(_on_dial(number, 84), str(number), 21, INK)
    canvas.stroke([centre, _on_dial(hour, 48)], INK, 9)
    canvas.stroke([centre, _on_dial(12, 68)], INK, 5)
    canvas.disc(centre, 8, RED)
    return canvas


def face(mood: Literal["happy", "sad"]) -> Canvas:
    canvas = Canvas("#f3dfc9", width=320)
    skin, hair = "#e8b48f", "#6b4429"
    canvas.oval((60, 242, 260, 400), "#5b8f8a")
    canvas.box((138, 210, 182, 256), "#d89f79", radius=12)
    canvas.disc((160, 128), 96, hair)
    canvas.oval((82, 62, 238, 230), skin)
    canvas.slice((80, 44, 240, 148), 180, 360, hair)
    for x in (128, 192):
        canvas.disc((x, 134), 8, INK)
        canvas.disc((x + 3, 131), 2.5, WHITE)
    canvas.stroke([(160, 146), (155, 164), (163, 166)], "#c98d68", 3)
    if mood == "happy":
        canvas.arc((114, 108, 142, 128), 200, 340, hair, 4)
        canvas.arc((178, 108, 206, 128), 200, 340, hair, 4)
        canvas.slice((124, 148, 196, 218), 0, 180, "#a63d40")
        canvas.box((131, 183, 189, 193), WHITE, radius=4)
    else:
        canvas.stroke([(112, 119), (141, 106)], hair, 4)
        canvas.stroke([(208, 119), (179, 106)], hair, 4)
        canvas.arc((130, 186, 190, 226), 205, 335, "#a63d40", 5)
        canvas.shape([(196, 150), (204, 170), (188, 170)], "#6fb6e5")
        canvas.disc((196, 171), 8, "#6fb6e5")
    return canvas


def _tipped_bucket(canvas: Canvas) -> None:
    canvas.arc((28, 178, 112, 262), 200, 300, "#7d8794", 4)
    canvas.shape([(20, 196), (95, 180), (95, 256), (20, 240)], "#e2574c")
    canvas.oval((8, 196, 32, 240), "#c4453c")
    canvas.oval((80, 180, 110, 256), "#8e2f2a")
    canvas.shape([(92, 225), (135, 232), (135, 255), (95, 255)], "#7ec3ea")


def _power_strip(canvas: Canvas) -> None:
    canvas.stroke(bend((330, 220), (388, 222), (385, 95)), INK, 5)
    canvas.box((368, 68, 400, 112), WHITE, radius=4, edge="#b8bec8")
    canvas.box((376, 80, 394, 100), INK, radius=4)
    canvas.box((195, 200, 335, 240), "#f6f6f2", radius=9, edge="#9aa1ad", width=2.5)
    canvas.box((204, 211, 222, 229), "#e23b34", radius=3)
    for x in (248, 282, 316):
        canvas.disc((x, 220), 13, "#d5d9de")
        canvas.disc((x - 5, 220), 2.5, INK)
        canvas.disc((x + 5, 220), 2.5, INK)
    canvas.stroke(bend((282, 205), (278, 168), (190, 184)), INK, 5)
    canvas.box((268, 200, 296, 230), INK, radius=6)


def _picture_frame(canvas: Canvas) -> None:
    canvas.box((150, 28, 240, 92), DARK_WOOD, radius=2)
    canvas.box((157, 35, 233, 85), "#bfe0f0")
    canvas.shape([(157, 85), (185, 50), (208, 85)], "#6f9f72")
    canvas.shape([(188, 85), (212, 60), (233, 85)], "#8bb888")
    canvas.disc((220, 47), 6, YELLOW)


def _floor_lamp(canvas: Canvas, foot: Point, *, height: float) -> None:
    x, y = foot
    top = y - height
    canvas.stroke([(x, top + 40), (x, y)], INK, 5)
    canvas.oval((x - 24, y - 8, x + 24, y + 6), INK)
    canvas.shape([(x - 18, top), (x + 18, top), (x + 34, top + 48), (x - 34, top + 48)], "#f6d98b")


def _sofa(canvas: Canvas) -> None:
    blue, shade = "#5f83a8", "#4b6c8f"
    for x in (82, 282):
        canvas.box((x, 222, x + 12, 244), DARK_WOOD)
    canvas.box((72, 112, 304, 200), blue, radius=18)
    canvas.box((78, 178, 298, 226), shade, radius=8)
    canvas.box((52, 146, 92, 228), blue, radius=16)
    canvas.box((284, 146, 324, 228), blue, radius=16)


def _cat(canvas: Canvas, foot: Point) -> None:
    """A sitting orange cat; `foot` is the middle of its lower edge."""
    x, y = foot
    fur, shade = "#e8923c", "#c97424"
    canvas.stroke(bend((x + 16, y - 6), (x + 52, y - 2), (x + 42, y - 30)), shade, 8)
    canvas.oval((x - 24, y - 48, x + 24, y), fur)
    for way in (-1, 1):
        canvas.shape([(x + way * 20, y - 82), (x + way * 19, y - 56), (x + way * 3, y - 68)], fur)
        canvas.shape([(x + way * 17, y - 75), (x + way * 16, y - 60), (x + way * 8, y - 67)], "#f5c3a0")
    canvas.oval((x - 22, y - 72, x + 22, y - 36), fur)
    for way in (-1, 1):
        canvas.disc((x + way * 8, y - 56), 3, INK)
        canvas.stroke([(x + way * 8, y - 47), (x + way * 25, y - 49)], WHITE, 1.2)
        canvas.oval((x + way * 9 - 8, y - 9, x + way * 9 + 8, y + 1), "#f6c48f")
    canvas.shape([(x - 3, y - 50), (x + 3, y - 50), (x, y - 46)], "#a6453b")


def _hanger(canvas: Canvas, x: float) -> None:
    canvas.arc((x - 7, 42, x + 7, 58), 180, 90, INK, 2.5)
    canvas.stroke([(x, 57), (x, 66)], INK, 2.5)
    canvas.stroke([(x - 36, 84), (x, 66), (x + 36, 84)], INK, 3)


def _t_shirt(canvas: Canvas, x: float) -> None:
    _hanger(canvas, x)
    outline = [
        (-16, 74),
        (16, 74),
        (50, 96),
        (38, 122),
        (28, 114),
        (28, 186),
        (-28, 186),
        (-28, 114),
        (-38, 122),
        (-50, 96),
    ]
    canvas.shape([(x + dx, y) for dx, y in outline], "#f4f1e8")
    canvas.slice((x - 15, 63, x + 15, 86), 0, 180, "#a87648")


def _sleeved(canvas: Canvas, x: float, *, hem: float, cloth: str, seam: str) -> None:
    canvas.stroke([(x - 28, 92), (x - 40, 170)], seam, 20)
    canvas.stroke([(x + 28, 92), (x + 40, 170)], seam, 20)
    canvas.box((x - 34, 78, x + 34, hem), cloth, radius=11)


def _raincoat(canvas: Canvas, x: float) -> None:
    _hanger(canvas, x)
    _sleeved(canvas, x, hem=216, cloth="#f4cf3f", seam="#dfb52b")
    canvas.shape([(x - 24, 80), (x, 62), (x + 24, 80), (x, 100)], "#dfb52b")
    canvas.stroke([(x, 98), (x, 213)], "#c99c1c", 2)
    for y in (118, 148, 178):
        canvas.disc((x + 8, y), 3.5, INK)


def _winter_coat(canvas: Canvas, x: float) -> None:
    _hanger(canvas, x)
    _sleeved(canvas, x, hem=230, cloth="#3e5f8a", seam="#334f75")
    for y in (118, 142, 166, 190, 212):
        canvas.stroke([(x - 33, y), (x + 33, y)], "#2a4263", 2.5)
    canvas.stroke([(x, 96), (x, 228)], "#c9d2de", 3)
    for dx, dy in ((-26, 84), (-15, 90), (0, 93), (15, 90), (26, 84), (-20, 77), (20, 77), (-8, 80), (8, 80)):
        canvas.disc((x + dx, dy), 11, "#efe3d0")


def _on_dial(hour: float, radius: float) -> Point:
    turn = radians(30 * hour)
    return 160 + radius * sin(turn), 150 - radius * cos(turn)
