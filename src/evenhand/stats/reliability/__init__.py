"""Numbers about the judges: how far what they said can be relied on.

`order_bias.py`: whether a judge keeps its verdict when the answers are exchanged, and which position it favours;
`agreement/`: with people and among judges; `grade_score/`: under rotation; `summary.py` puts them together.
"""

from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.order_bias import OrderBias, order_bias
from evenhand.stats.reliability.summary import Conclusion, Summary, trust

__all__ = ["Conclusion", "Coverage", "OrderBias", "Summary", "order_bias", "trust"]
