"""Images: told apart by their bytes, decoded within limits, kept by digest, prepared, counted in tokens, fetched."""

from evenhand.images.inspection import DEFAULT_LIMITS, ImageInfo, ImageLimits, digest, inspect
from evenhand.images.preparing import Prepared, prepared
from evenhand.images.sniffing import ImageError, ImageTooLarge, sniff
from evenhand.images.store import ImageStore, StoreProblem
from evenhand.images.tokens import ImageDetail, openai_image_tokens

__all__ = [
    "DEFAULT_LIMITS",
    "ImageDetail",
    "ImageError",
    "ImageInfo",
    "ImageLimits",
    "ImageStore",
    "ImageTooLarge",
    "Prepared",
    "StoreProblem",
    "digest",
    "inspect",
    "openai_image_tokens",
    "prepared",
    "sniff",
]
