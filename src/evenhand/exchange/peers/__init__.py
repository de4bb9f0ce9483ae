"""One file for each layout of a peer: Chatbot Arena, Arena-Hard, MT-Bench, AlpacaEval, VisIT-Bench.

`battles_file.py` above tells whose file it is; start with `battles.py`.
"""
