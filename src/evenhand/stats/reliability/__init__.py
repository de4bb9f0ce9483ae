"""Numbers about the judges: how far what they said can be relied on."""

from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.order_bias import OrderBias, order_bias
from evenhand.stats.reliability.summary import Conclusion, Summary, trust

__all__ = ["Conclusion", "Coverage", "OrderBias", "Summary", "order_bias", "trust"]
