"""One-pass filling of prompt files."""

from evenhand.prompts.template import Template, TemplateError

__all__ = ["Template", "TemplateError"]
