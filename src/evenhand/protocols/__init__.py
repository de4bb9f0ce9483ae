"""How a judge is asked, and how its words become a verdict.

A protocol is a folder of data (`catalog.py` finds it, `protocol.py` holds it). Of a reply `reading.py` chooses the
decision, `origin.py` ranks whose words each is, `quoting.py` and `candidates.py` find the signs of it, `skeleton.py`
and `plain.py` undo disguises; `closing.py` reads a line with a secret token.
"""
