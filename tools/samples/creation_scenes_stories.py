"""Scenes to tell or feel something about."""

from tools.samples.canvas import Canvas, bend, scattered
from tools.samples.creation_colours import (
    BLUE,
    DARK_WOOD,
    GRASS,
    INK,
    LEAF,
    NIGHT,
    ORANGE,
    RED,
    SKY,
    STONE,
    SUN,
    WHITE,
    WOOD,
)
from tools.samples.creation_figures import balloon, cloud, fir, fox, house, person, tree


def fox_finds_balloon() -> Canvas:
    canvas = Canvas(SKY)
    cloud(canvas, (90, 50))
    canvas.oval((-80, 200, 480, 420), GRASS)
    tree(canvas, (330, 232), size=1.3)
    fox(canvas, (130, 250))
    balloon(canvas, (238, 160), string=bend((238, 166), (226, 200), (244, 240))[1:])
    return canvas


def fox_in_the_air() -> Canvas:
    canvas = Canvas(SKY)
    cloud(canvas, (320, 70))
    cloud(canvas, (70, 120))
    canvas.oval((-80, 256, 480, 420), GRASS)
    house(canvas, 270, 268, wall="#efe3c8", roof=RED, width=52)
    tree(canvas, (90, 266), size=0.6)
    fox(canvas, (200, 226), size=0.8)
    balloon(canvas, (216, 88), string=bend((216, 94), (206, 120), (212, 160))[1:], size=1.2)
    return canvas


def fox_on_the_roof() -> Canvas:
    canvas = Canvas(NIGHT)
    canvas.disc((330, 62), 30, "#f6ecc4")
    canvas.disc((342, 54), 26, NIGHT)
    for star in scattered(26, (10, 8, 390, 120)):
        canvas.disc(star, 1.6, WHITE)
    canvas.box((70, 210, 330, 300), "#d9c7a5")
    canvas.shape([(40, 214), (110, 140), (290, 140), (360, 214)], "#9c4a3c")
    for row in range(3):
        canvas.stroke([(92 - 23 * row, 160 + 24 * row), (308 + 23 * row, 160 + 24 * row)], "#853c31", 2)
    canvas.box((250, 96, 286, 150), "#b0705f")
    for left in (108, 238):
        canvas.box((left, 232, left + 54, 278), "#ffe49a", edge=WHITE, width=4)
    fox(canvas, (170, 142), size=0.8)
    canvas.stroke(bend((222, 141), (238, 150), (252, 134)), RED, 5)
    canvas.disc((224, 141), 6, RED)
    return canvas


def lake_at_dusk() -> Canvas:
    canvas = Canvas("#f6b48a")
    for top, colour in ((0, "#5d5a92"), (34, "#8b6a9c"), (66, "#c4809a"), (96, "#ea9c8f")):
        canvas.box((0, top, 400, top + 40), colour)
    canvas.disc((268, 150), 26, "#ffe6ac")
    canvas.shape([(-10, 170), (70, 84), (130, 140), (190, 98), (270, 170)], "#4d4a78")
    canvas.shape([(190, 170), (300, 110), (350, 140), (410, 100), (410, 170)], "#423f6b")
    canvas.box((0, 168, 400, 300), "#6d6a9c")
    for place in range(7):
        half = 26 - 2 * place
        canvas.box((268 - half, 178 + 15 * place, 268 + half, 182 + 15 * place), "#f3c29a", radius=2)
    canvas.shape([(86, 226), (186, 226), (166, 248), (104, 248)], "#33284a")
    canvas.stroke([(120, 232), (84, 262)], "#33284a", 4)
    canvas.stroke([(136, 224), (136, 204)], "#33284a", 12)
    canvas.disc((136, 192), 9, "#33284a")
    for x in range(0, 60, 9):
        canvas.stroke(bend((x + 4, 300), (x, 260), (x + 10, 236 + x % 17)), "#2b2342", 3)
    return canvas


def hedgehog_and_snail() -> Canvas:
    canvas = Canvas("#a9c2c9")
    canvas.oval((-60, 214, 460, 420), "#6f9a62")
    canvas.box((172, 120, 214, 246), "#f3ead8", radius=16)
    canvas.slice((78, 30, 308, 220), 180, 360, RED)
    canvas.oval((78, 112, 308, 138), "#e8ddc8")
    for x, y, radius in ((130, 92, 12), (186, 66, 15), (238, 84, 11), (274, 108, 8), (104, 114, 7)):
        canvas.disc((x, y), radius, WHITE)
    _hedgehog(canvas)
    _snail(canvas)
    for x, y in scattered(34, (6, 4, 394, 226)):
        if not (70 < x < 316 and y > 26):
            canvas.stroke([(x, y), (x - 4, y + 14)], "#e6f3f8", 2.2)
    return canvas


def park_bench() -> Canvas:
    """An elderly pair on a bench, and a small dog between their feet."""
    canvas = Canvas("#d7ecf3")
    canvas.disc((212, 48), 26, SUN)
    canvas.box((0, 190, 400, 300), "#9cc77b")
    canvas.oval((-40, 244, 440, 330), "#d9c9a6")
    tree(canvas, (60, 204), size=1.2, crown="#d98f3d")
    tree(canvas, (352, 200), size=1.1, crown="#c9692f")
    canvas.box((110, 150, 292, 164), WOOD, radius=3)
    canvas.box((110, 172, 292, 186), WOOD, radius=3)
    person(canvas, (158, 206), coat="#5a7fb0", hair="#d9d9d9", facing=1)
    person(canvas, (244, 206), coat="#a8527a", hair="#eceae6", facing=-1)
    canvas.box((104, 204, 298, 216), WOOD, radius=3)
    for x in (116, 280):
        canvas.box((x, 214, x + 8, 252), INK)
    _dog(canvas)
    for x, y in ((30, 262), (84, 282), (330, 270), (370, 288), (300, 286)):
        canvas.oval((x, y, x + 12, y + 6), "#c9692f")
    return canvas


def snowy_village() -> Canvas:
    canvas = Canvas(NIGHT)
    canvas.disc((62, 52), 24, "#f6ecc4")
    canvas.oval((-120, 190, 250, 420), "#dfe8f5")
    canvas.oval((140, 206, 540, 420), WHITE)
    house(canvas, 34, 232, wall="#b5654f", roof=WHITE)
    house(canvas, 124, 244, wall="#d9a95c", roof=WHITE, width=62)
    fir(canvas, (300, 262), size=1.7)
    canvas.shape([(300, 84), (305, 96), (318, 97), (308, 105), (312, 118), (300, 110)], SUN)
    canvas.shape([(300, 84), (295, 96), (282, 97), (292, 105), (288, 118), (300, 110)], SUN)
    lights = ((284, 150), (314, 166), (276, 186), (322, 204), (292, 214), (262, 234), (334, 236), (304, 188))
    for place, light in enumerate(lights):
        canvas.disc(light, 5, (RED, SUN, "#7fc7ea")[place % 3])
    _snowman(canvas)
    for flake in scattered(60, (0, 0, 400, 240)):
        canvas.disc(flake, 2.4, WHITE)
    return canvas


def harbour_market() -> Canvas:
    canvas = Canvas(SKY)
    cloud(canvas, (320, 44))
    canvas.box((0, 120, 400, 190), "#4c97bd")
    for x, colour in ((60, RED), (150, "#2f6f6a")):
        canvas.shape([(x - 40, 140), (x + 40, 140), (x + 26, 160), (x - 26, 160)], colour)
        canvas.stroke([(x, 140), (x, 84)], DARK_WOOD, 3)
        canvas.shape([(x + 4, 88), (x + 34, 132), (x + 4, 132)], WHITE)
    canvas.box((0, 184, 400, 300), "#cbbfa8")
    for left, colour in ((30, ORANGE), (220, BLUE)):
        for x in (left + 10, left + 140):
            canvas.stroke([(x, 200), (x, 232)], DARK_WOOD, 3)
        canvas.box((left + 6, 230, left + 144, 272), WOOD)
        for place in range(5):
            x = left + 30 * place
            canvas.box((x, 176, x + 30, 204), colour if place % 2 == 0 else WHITE)
            canvas.slice((x, 192, x + 30, 216), 0, 180, colour if place % 2 == 0 else WHITE)
    for place in range(8):
        canvas.disc((48 + 16 * place, 234), 8, ORANGE)
    for place in range(5):
        x = 232 + 26 * place
        canvas.oval((x, 226, x + 22, 238), "#b9c6d2")
        canvas.shape([(x + 20, 232), (x + 28, 226), (x + 28, 238)], "#b9c6d2")
    return canvas


def cable_car() -> Canvas:
    canvas = Canvas("#cde6f3")
    canvas.shape([(-20, 300), (110, 80), (240, 300)], "#8796a8")
    canvas.shape([(78, 134), (110, 80), (142, 134), (118, 122), (104, 138)], WHITE)
    canvas.shape([(150, 300), (310, 40), (460, 300)], "#77879b")
    canvas.shape([(266, 112), (310, 40), (352, 112), (326, 98), (306, 118), (288, 100)], WHITE)
    canvas.stroke([(0, 220), (400, 70)], INK, 2)
    canvas.stroke([(176, 154), (176, 180)], INK, 3)
    canvas.box((140, 178, 212, 234), RED, radius=9)
    for x in (148, 178):
        canvas.box((x, 188, x + 26, 208), "#dff1fa", radius=3)
    for x, size in ((24, 0.7), (70, 0.9), (360, 0.8), (390, 0.6)):
        fir(canvas, (x, 300), size=size)
    return canvas


def cafe_front() -> Canvas:
    canvas = Canvas("#e9d9c3")
    canvas.box((0, 250, 400, 300), "#b7b2aa")
    canvas.box((40, 40, 360, 252), "#3f6b5f")
    canvas.box((52, 52, 348, 92), "#2f5148", radius=4)
    canvas.text((200, 72), "CAFE MOKA", 26, "#f6e7c8")
    canvas.box((60, 120, 220, 230), "#f9efd6", edge=WHITE, width=4)
    canvas.box((246, 120, 336, 252), "#5b3f2c", radius=3)
    canvas.box((258, 132, 324, 194), "#f9efd6")
    canvas.text((291, 163), "OPEN\n7 - 18", 15, RED)
    for place in range(9):
        x = 44 + 35 * place
        canvas.shape([(x, 96), (x + 35, 96), (x + 35, 118), (x, 118)], RED if place % 2 == 0 else WHITE)
    for x in (92, 140, 188):
        canvas.stroke([(x, 120), (x, 142)], INK, 2)
        canvas.slice((x - 13, 136, x + 13, 162), 180, 360, ORANGE)
    canvas.box((74, 190, 206, 200), WOOD)
    for x in (96, 136, 176):
        canvas.oval((x - 12, 176, x + 12, 191), "#a05a2c")
    canvas.shape([(10, 270), (24, 196), (72, 196), (86, 270)], "#2b2b33")
    for y, words in ((212, "Cake 4"), (230, "Coffee 3"), (248, "Soup 6")):
        canvas.text((48, y), words, 11, WHITE)
    return canvas


def _hedgehog(canvas: Canvas) -> None:
    canvas.slice((44, 168, 164, 284), 180, 360, "#6b4a34")
    for place in range(9):
        x = 52 + 12 * place
        height = 176 + abs(104 - x) * 0.42
        canvas.shape([(x - 7, height + 14), (x, height - 14), (x + 7, height + 14)], "#6b4a34")
    canvas.shape([(140, 200), (190, 226), (140, 228)], "#e2b98d")
    canvas.disc((144, 212), 18, "#e2b98d")
    canvas.disc((188, 225), 5, INK)
    canvas.disc((152, 206), 3.4, INK)
    for x in (78, 126):
        canvas.box((x, 224, x + 14, 234), "#e2b98d", radius=4)


def _snail(canvas: Canvas) -> None:
    canvas.box((228, 224, 322, 242), "#e4c27e", radius=9)
    canvas.disc((296, 206), 28, "#a9683c")
    canvas.arc((276, 188, 316, 226), 0, 300, "#f3d7ab", 4)
    canvas.arc((286, 197, 308, 217), 40, 330, "#f3d7ab", 3)
    for dx in (0, 12):
        canvas.stroke([(238 + dx, 228), (230 + dx, 200)], "#e4c27e", 4)
        canvas.disc((230 + dx, 199), 4, INK)


def _dog(canvas: Canvas) -> None:
    canvas.oval((182, 238, 226, 272), "#8d5f3b")
    canvas.disc((224, 236), 14, "#8d5f3b")
    canvas.oval((210, 226, 220, 248), DARK_WOOD)
    canvas.disc((237, 239), 4, INK)
    canvas.disc((227, 233), 2.4, INK)
    canvas.stroke(bend((184, 256), (168, 250), (170, 236)), "#8d5f3b", 5)
    for x in (192, 212):
        canvas.box((x, 264, x + 9, 280), "#8d5f3b", radius=3)


def _snowman(canvas: Canvas) -> None:
    canvas.disc((222, 262), 24, WHITE, edge="#c4d2e6")
    canvas.disc((222, 226), 17, WHITE, edge="#c4d2e6")
    canvas.box((204, 206, 240, 212), INK)
    canvas.box((211, 188, 233, 210), INK)
    canvas.shape([(222, 226), (242, 230), (222, 232)], ORANGE)
    for x in (216, 227):
        canvas.disc((x, 221), 2.2, INK)
    canvas.box((206, 238, 238, 245), LEAF, radius=3)
    canvas.disc((222, 258), 2.4, STONE)
