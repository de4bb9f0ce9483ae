"""The door: sessions, guards, limits, uploads, who may see what. Every feature uses it.

Start with `service.py`.
"""
