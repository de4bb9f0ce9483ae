"""One file for each layout of a peer: Chatbot Arena, Arena-Hard, MT-Bench, AlpacaEval, VisIT-Bench.

Start with `detection.py`.
"""
