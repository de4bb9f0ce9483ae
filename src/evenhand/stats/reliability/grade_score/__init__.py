"""The Grade Score: consistency and order bias of a judge under rotation.

Start with `score.py`.
"""
