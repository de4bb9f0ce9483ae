"""Things and people that appear in more than one scene."""

from tools.samples.canvas import Canvas, Point
from tools.samples.creation_colours import DARK_WOOD, INK, LEAF, RED, WHITE


def cloud(canvas: Canvas, centre: Point, colour: str = WHITE) -> None:
    x, y = centre
    canvas.box((x - 44, y, x + 44, y + 20), colour, radius=10)
    canvas.disc((x - 16, y), 17, colour)
    canvas.disc((x + 12, y - 5), 22, colour)


def tree(canvas: Canvas, foot: Point, *, size: float = 1, crown: str = LEAF) -> None:
    x, y = foot
    canvas.box((x - 6 * size, y - 46 * size, x + 6 * size, y), DARK_WOOD)
    for dx, dy, radius in ((-18, -58, 24), (18, -58, 24), (0, -80, 28)):
        canvas.disc((x + dx * size, y + dy * size), radius * size, crown)


def fir(canvas: Canvas, foot: Point, *, size: float = 1, colour: str = "#3f7d54") -> None:
    x, y = foot
    canvas.box((x - 5 * size, y - 14 * size, x + 5 * size, y), DARK_WOOD)
    for base, half, tip in ((-12, 34, -52), (-36, 27, -74), (-60, 20, -96)):
        canvas.shape(
            [(x - half * size, y + base * size), (x + half * size, y + base * size), (x, y + tip * size)], colour
        )


def house(canvas: Canvas, left: float, floor: float, *, wall: str, roof: str, width: float = 70) -> None:
    top = floor - width * 0.8
    canvas.box((left, top, left + width, floor), wall)
    canvas.shape([(left - 7, top + 1), (left + width / 2, top - width * 0.55), (left + width + 7, top + 1)], roof)
    canvas.box((left + width * 0.4, floor - width * 0.42, left + width * 0.62, floor), DARK_WOOD, radius=2)
    for x in (left + width * 0.12, left + width * 0.7):
        canvas.box((x, top + width * 0.2, x + width * 0.18, top + width * 0.4), "#ffe49a", edge=WHITE, width=2)


def fox(canvas: Canvas, foot: Point, *, size: float = 1) -> None:
    """A fox sitting, seen from the side, looking right."""
    x, y = foot
    fur, belly = "#df7a34", "#fbeedd"

    def at(dx: float, dy: float) -> Point:
        return x + dx * size, y + dy * size

    canvas.oval((*at(-58, -34), *at(-14, -4)), fur)
    canvas.oval((*at(-62, -30), *at(-40, -10)), belly)
    canvas.oval((*at(-26, -58), *at(22, 0)), fur)
    canvas.oval((*at(-2, -46), *at(20, -2)), belly)
    canvas.disc(at(12, -66), 23 * size, fur)
    canvas.shape([at(22, -80), at(50, -58), at(18, -52)], fur)
    canvas.shape([at(22, -62), at(50, -58), at(18, -50)], belly)
    canvas.disc(at(49, -59), 4 * size, INK)
    for ear in (-4, 18):
        canvas.shape([at(ear - 9, -82), at(ear - 2, -108), at(ear + 9, -84)], fur)
        canvas.shape([at(ear - 5, -85), at(ear - 2, -99), at(ear + 5, -86)], INK)
    canvas.disc(at(20, -70), 3.2 * size, INK)
    for dx in (0, 14):
        canvas.box((*at(dx - 5, -14), *at(dx + 7, 1)), INK, radius=3)


def balloon(canvas: Canvas, knot: Point, *, string: list[Point], colour: str = RED, size: float = 1) -> None:
    x, y = knot
    canvas.stroke([knot, *string], INK, 1.5)
    canvas.oval((x - 24 * size, y - 60 * size, x + 24 * size, y), colour)
    canvas.shape([(x - 5, y + 6), (x + 5, y + 6), (x, y - 3)], colour)
    canvas.oval((x - 13 * size, y - 50 * size, x - 4 * size, y - 34 * size), "#f4b5ae")


def person(canvas: Canvas, seat: Point, *, coat: str, hair: str, facing: int) -> None:
    """Somebody sitting on a bench; `facing` is 1 to the right and -1 to the left."""
    x, y = seat
    skin = "#f0c8a4"
    canvas.box((x - 19, y - 58, x + 19, y + 6), coat, radius=12)
    canvas.box((min(x, x + 30 * facing), y - 8, max(x, x + 30 * facing), y + 10), INK, radius=6)
    canvas.box((x + 22 * facing - 6, y, x + 22 * facing + 6, y + 44), INK, radius=4)
    canvas.box((x + 22 * facing - 8, y + 38, x + 22 * facing + 8 + 6 * facing, y + 46), DARK_WOOD, radius=3)
    canvas.stroke([(x - 2 * facing, y - 44), (x + 16 * facing, y - 20), (x + 30 * facing, y - 16)], coat, 10)
    canvas.disc((x + 30 * facing, y - 16), 6, skin)
    canvas.disc((x, y - 76), 21, hair)
    canvas.disc((x + 4 * facing, y - 73), 18, skin)
    canvas.disc((x + 11 * facing, y - 76), 2.4, INK)
    canvas.arc((x + 4 * facing - 8, y - 76, x + 4 * facing + 8, y - 62), 20, 160, INK, 2)
