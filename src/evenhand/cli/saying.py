"""Sentences on standard error, folded between words where a person reads them."""

import shutil
import sys
import textwrap

import click

from evenhand.format.printable import printable


def say(sentence: str) -> None:
    click.echo(folded(printable(sentence)), err=True)


def folded(sentence: str) -> str:
    """As it is where a program reads; in a terminal no line is cut within a word, unless the word is longer."""
    if not sys.stderr.isatty():
        return sentence
    width = shutil.get_terminal_size().columns
    lines = (textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in sentence.split("\n"))
    return "\n".join(part for line in lines for part in line)
