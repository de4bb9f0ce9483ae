"""The seam to models: a client that takes a request and gives a reply, over HTTP or on this machine.

`client.py` is the interface, `named.py` finds the client for a name, `prices.py` what a call costs. A provider on the
OpenAI wire is a table in `providers.toml`; another wire comes with an installed package (`wires.py`).
"""
