"""The papers' published tables recomputed, row by row against what was printed."""

from evenhand.reports.papers.reproduce.reproduction import PAPERS, Reproduction, reproduce

__all__ = ["PAPERS", "Reproduction", "reproduce"]
