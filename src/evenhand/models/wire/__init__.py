"""HTTP as providers speak it: bodies, replies, errors, time limits.

Start with `openai.py`.
"""
