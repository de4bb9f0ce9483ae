"""Commands that ask models: judge, answer, grade, audit, describe-images.

Start with `judge_command.py` and `judging.py`; the flags that they share are in `asking_options.py`.
"""
