"""How calls are made: planned, limited, retried, paid for, stopped. Knows no task but by its interface in `task.py`.

Start with `runner.py`; `budget.py` sets money aside before a call, `calling.py` sends it.
"""
