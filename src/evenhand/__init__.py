"""Ranks multimodal language models with judges, human or model, and measures whether the judges can be trusted."""

__version__ = "0.1.0"
