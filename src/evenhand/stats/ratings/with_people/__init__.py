"""People and judge in one estimate: many verdicts of a judge, corrected by people's on some of the same pairs.

`matched.py` has the two side by side, `ratings.py` Bradley-Terry ratings of them and `means.py` shares and Rewards;
`plan.py` tells what more verdicts of people would bring. Start with `ratings.py`.
"""
