"""A smooth flat-colour drawing surface, so that a scene reads as a list of shapes."""

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

Point = tuple[float, float]
Area = tuple[float, float, float, float]
"""Left, top, right, bottom."""

# Pillow's shapes have hard edges; drawing large and shrinking smooths them.
OVERSAMPLING = 4
# Whole steps of a channel leave smoothed edges few enough shades for a palette, and so files of a few KB.
SHADE_STEP = 8


class Canvas:
    """Coordinates are pixels of the finished picture; the origin is at its top left."""

    def __init__(self, background: str, *, width: int = 400, height: int = 300) -> None:
        self.width = width
        self.height = height
        self._image = Image.new("RGB", (width * OVERSAMPLING, height * OVERSAMPLING), background)
        self._draw = ImageDraw.Draw(self._image)

    def box(self, area: Area, fill: str, *, radius: float = 0, edge: str | None = None, width: float = 2) -> None:
        self._draw.rounded_rectangle(
            _scaled(area), radius=radius * OVERSAMPLING, fill=fill, outline=edge, width=_thickness(width)
        )

    def oval(self, area: Area, fill: str | None, *, edge: str | None = None, width: float = 2) -> None:
        self._draw.ellipse(_scaled(area), fill=fill, outline=edge, width=_thickness(width))

    def disc(
        self, centre: Point, radius: float, fill: str | None, *, edge: str | None = None, width: float = 2
    ) -> None:
        x, y = centre
        self.oval((x - radius, y - radius, x + radius, y + radius), fill, edge=edge, width=width)

    def shape(self, corners: Sequence[Point], fill: str) -> None:
        self._draw.polygon([_scaled_point(corner) for corner in corners], fill=fill)

    def stroke(self, points: Sequence[Point], colour: str, width: float = 2) -> None:
        """A line through the points with round joints and ends."""
        self._draw.line([_scaled_point(point) for point in points], fill=colour, width=_thickness(width), joint="curve")
        for end in (points[0], points[-1]):
            self.disc(end, width / 2, colour)

    def arc(self, area: Area, start: float, end: float, colour: str, width: float = 2) -> None:
        """Part of an ellipse's edge; angles in degrees, clockwise from three o'clock."""
        self._draw.arc(_scaled(area), start, end, fill=colour, width=_thickness(width))

    def slice(self, area: Area, start: float, end: float, fill: str) -> None:
        """A filled sector of an ellipse; angles as in `arc`."""
        self._draw.pieslice(_scaled(area), start, end, fill=fill)

    def text(self, anchor_point: Point, words: str, size: float, colour: str, *, anchor: str = "mm") -> None:
        """`anchor` as in Pillow: `mm` centres the words on the point, `lm` starts them there, `rm` ends them there."""
        font = ImageFont.load_default(size * OVERSAMPLING)
        self._draw.text(_scaled_point(anchor_point), words, fill=colour, font=font, anchor=anchor)

    def finished(self) -> Image.Image:
        """The picture at its own size, with a palette."""
        smooth = self._image.reduce(OVERSAMPLING)
        stepped = smooth.point([_nearest_shade(value) for value in range(256)] * 3)
        return stepped.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def bend(start: Point, control: Point, end: Point) -> list[Point]:
    """Points along a quadratic Bezier curve, for a bent stroke or the rounded side of a shape."""
    steps = [step / 16 for step in range(17)]
    return [
        (
            (1 - t) ** 2 * start[0] + 2 * t * (1 - t) * control[0] + t**2 * end[0],
            (1 - t) ** 2 * start[1] + 2 * t * (1 - t) * control[1] + t**2 * end[1],
        )
        for t in steps
    ]


def scattered(count: int, area: Area) -> list[Point]:
    """Points spread evenly over an area without looking like a grid."""
    left, top, right, bottom = area
    # Multiples of the golden ratio, modulo one, never bunch.
    return [
        (left + (right - left) * (place * 0.618034 % 1), top + (bottom - top) * (place + 0.5) / count)
        for place in range(count)
    ]


def _scaled_point(point: Point) -> tuple[int, int]:
    return round(point[0] * OVERSAMPLING), round(point[1] * OVERSAMPLING)


def _scaled(area: Area) -> tuple[int, int, int, int]:
    # Pillow paints the last row and column too; one less makes neighbouring areas meet without overlap.
    left, top = _scaled_point(area[:2])
    right, bottom = _scaled_point(area[2:])
    return left, top, right - 1, bottom - 1


def _thickness(width: float) -> int:
    return max(1, round(width * OVERSAMPLING))


def _nearest_shade(value: int) -> int:
    return min(255, round(value / SHADE_STEP) * SHADE_STEP)
