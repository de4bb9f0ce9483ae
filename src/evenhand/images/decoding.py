"""Decoding with Pillow, without trusting the file and without changing Pillow's settings for the whole process."""

import io
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from PIL import Image
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from evenhand.images.sniffing import ImageError, ImageLimits, ImageTooLarge
from evenhand.images.structure import gif_frames, plain_jpeg_is_whole, plain_png_is_whole

_EXIF_ORIENTATION = 274
_EXIF_LONG = 4

_TRANSPOSED_FOR = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

# Not among them: 32-bit integers and floats, whose black and white nobody knows.
_KNOWN_MODES = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "LAB"})
_SENT_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_SENT_MODES = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA"})
_SIXTEEN_BIT_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N"})


class _JpegReader(JpegImageFile):
    def _read_dpi_from_exif(self) -> None:
        # Pillow would parse EXIF here for a resolution nobody asked for, and warn where EXIF is damaged,
        # as it is in many pictures from the web.
        pass


# Image.open would warn at a number of pixels set for the whole process, and would take the further pictures that
# phones append to a JPEG for frames; the readers themselves do neither.
_READERS: dict[str, type[ImageFile]] = {
    "image/png": PngImageFile,
    "image/jpeg": _JpegReader,
    "image/gif": GifImageFile,
    "image/webp": WebPImageFile,
    "image/bmp": BmpImageFile,
    "image/tiff": TiffImageFile,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFrame:
    """The first of `frames` frames, as stored: neither turned upright nor converted."""

    image: Image.Image
    size: tuple[int, int]
    """Width and height in pixels; of an image that was decoded small those of the file."""
    frames: int


def first_frame(data: bytes, media_type: str, limits: ImageLimits, *, unseen: bool = False) -> FirstFrame:
    """Decoded; raises ImageError where it cannot be. `unseen`: without its pixels where the file's structure tells that
    all of it is there, else a JPEG as an eighth of its width and height: all of its data is read either way."""
    if len(data) > limits.bytes:
        raise ImageTooLarge(f"The image has {len(data)} bytes and at most {limits.bytes} are taken; make it smaller.")
    with _faults_as_image_errors(media_type):
        image = _opened(data, media_type, limits)
        if unseen and _is_whole(image, data, media_type):
            return FirstFrame(image=image, size=image.size, frames=1)
        if media_type == "image/png":
            # Loading alone ignores checksums and a missing end.
            image.verify()
            image = _opened(data, media_type, limits)
        frames = _count_frames(image, data, limits)
        if frames > limits.frames:
            raise ImageTooLarge(f"The image has more than {limits.frames} frames; give the one that is meant as PNG.")
        of_file = None
        if unseen and media_type == "image/jpeg":
            of_file = image.size
            image.draft(None, (1, 1))
        image.load()
    if image.mode not in _KNOWN_MODES and image.mode not in _SIXTEEN_BIT_MODES:
        raise ImageError(
            f"The image holds samples of a kind that has no set black and white (Pillow's mode {image.mode}); "
            "convert it to 8-bit PNG."
        )
    return FirstFrame(image=image, size=of_file or image.size, frames=frames)


def _is_whole(image: ImageFile, data: bytes, media_type: str) -> bool:
    """Of the usual kinds whose pixels need not be looked at to know how they are shown."""
    if media_type == "image/jpeg":
        return image.mode in ("L", "RGB") and plain_jpeg_is_whole(data)
    seen = image.mode in ("L", "RGB") and not image.has_transparency_data and getattr(image, "n_frames", 1) == 1
    seen = seen and all(image.size) and "exif" not in image.info
    return media_type == "image/png" and seen and plain_png_is_whole(data)


def upright_size(frame: FirstFrame) -> tuple[int, int]:
    width, height = frame.size
    return (height, width) if orientation(frame.image) >= 5 else (width, height)


def upright_rgb(image: Image.Image) -> Image.Image:
    """A decoded image as it should be seen: 8-bit RGB, what is transparent on white, turned as EXIF says."""
    turn = _TRANSPOSED_FOR.get(orientation(image))
    if image.mode in _SIXTEEN_BIT_MODES:
        # convert("L") would clip at 255 instead of scaling.
        image = image.convert("I").point(lambda value: value * (1 / 257) + 0.5).convert("L")
        image.info.pop("transparency", None)
    if image.has_transparency_data:
        seen = image.convert("RGBA")
        rgb = Image.new("RGB", image.size, "white")
        rgb.paste(seen, mask=seen.getchannel("A"))
    else:
        rgb = image.convert("RGB")
    return rgb.transpose(turn) if turn is not None else rgb


def is_plain(frame: FirstFrame, data: bytes, media_type: str) -> bool:
    """Whether every endpoint shows these bytes alike. Raises ImageError as `first_frame` does."""
    image = frame.image
    with _faults_as_image_errors(media_type):
        return (
            media_type in _SENT_TYPES
            and image.mode in _SENT_MODES
            and frame.frames == 1
            and orientation(image) == 1
            and not _is_deeper_than_8_bits(image, data, media_type)
            and not _is_see_through(image)
        )


def _is_see_through(image: Image.Image) -> bool:
    """Whether any pixel is less than opaque; an alpha channel alone, as in most screenshots, does not make it so."""
    if not image.has_transparency_data:
        return False
    least_opaque, _ = image.convert("RGBA").getchannel("A").getextrema()
    return least_opaque != 255


def _is_deeper_than_8_bits(image: Image.Image, data: bytes, media_type: str) -> bool:
    # Of 16-bit colour Pillow keeps 8 bits and does not tell; byte 24 of a PNG file is its bit depth.
    return image.mode in _SIXTEEN_BIT_MODES or (media_type == "image/png" and data[24] > 8)


def orientation(image: Image.Image) -> int:
    """EXIF orientation 1 to 8 of a decoded image; 1, upright, where there is none or it cannot be read.

    Pillow's own reading of EXIF warns or raises on damage that browsers pass over. TIFF is turned by Pillow on loading.
    """
    exif = image.info.get("exif")
    if not isinstance(exif, bytes):
        return 1
    tiff = exif.removeprefix(b"Exif\0\0")
    big_endian = tiff[:2] == b"MM"

    def number(at: int, length: int) -> int:
        return int.from_bytes(tiff[at : at + length], "big" if big_endian else "little")

    directory = number(4, 4)
    for entry in range(directory + 2, directory + 2 + 12 * number(directory, 2), 12):
        if number(entry, 2) == _EXIF_ORIENTATION:
            value = number(entry + 8, 4 if number(entry + 2, 2) == _EXIF_LONG else 2)
            return value if 1 <= value <= 8 else 1
    return 1


def _opened(data: bytes, media_type: str, limits: ImageLimits) -> ImageFile:
    """The header read, nothing decoded yet."""
    image = _READERS[media_type](io.BytesIO(data))
    width, height = image.size
    if width * height > limits.pixels:
        raise ImageTooLarge(
            f"The image declares {width} x {height} pixels and at most {limits.pixels} in all are decoded; "
            "make it smaller."
        )
    return image


def _count_frames(image: ImageFile, data: bytes, limits: ImageLimits) -> int:
    if isinstance(image, GifImageFile):
        return gif_frames(data, at_most=limits.frames)
    if isinstance(image, TiffImageFile):
        return _count_pages(image, limits)
    return getattr(image, "n_frames", 1)


def _count_pages(image: TiffImageFile, limits: ImageLimits) -> int:
    # Pillow's own count takes time with the square of the number of pages.
    pages = 1
    try:
        while pages <= limits.frames:
            image.seek(pages)
            pages += 1
    except EOFError:
        pass
    image.seek(0)
    return pages


@contextmanager
def _faults_as_image_errors(media_type: str) -> Generator[None, None, None]:
    try:
        yield
    except (ImageError, MemoryError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as fault:
        raise ImageTooLarge(
            f"The {media_type} data declares too many pixels ({fault}); make the image smaller."
        ) from fault
    except Exception as fault:
        # Decoders answer damaged bytes with SyntaxError, struct.error, EOFError and nearly everything else there is.
        raise ImageError(
            f"The {media_type} data is damaged or cut short ({str(fault) or type(fault).__name__}); "
            "fetch or export the file again.",
            code="EH-IMAGE-DAMAGED",
        ) from fault
