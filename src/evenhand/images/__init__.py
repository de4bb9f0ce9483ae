"""Images: told apart by their bytes, decoded within limits, kept by digest, prepared, counted in tokens, fetched."""

from evenhand.images.inspection import ImageInfo, digest, inspect
from evenhand.images.places import StoreProblem
from evenhand.images.preparing import PreparedImage, prepared
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageError, ImageLimits, ImageTooLarge, sniff
from evenhand.images.store import ImageStore
from evenhand.images.tokens import ImageDetail, ImageRule, image_rule, most_image_tokens, openai_image_tokens

__all__ = [
    "DEFAULT_LIMITS",
    "ImageDetail",
    "ImageError",
    "ImageInfo",
    "ImageLimits",
    "ImageRule",
    "ImageStore",
    "ImageTooLarge",
    "PreparedImage",
    "StoreProblem",
    "digest",
    "image_rule",
    "inspect",
    "most_image_tokens",
    "openai_image_tokens",
    "prepared",
    "sniff",
]
