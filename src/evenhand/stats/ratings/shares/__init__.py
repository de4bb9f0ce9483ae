"""Shares won, without a model behind them: win rates, the win matrix, Creation-MMBench's Reward.

Start with `win_rate.py`.
"""
