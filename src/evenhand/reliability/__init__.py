"""Numbers about the judges: how far what they said can be relied on."""

from evenhand.reliability.coverage import Coverage
from evenhand.reliability.order_bias import OrderBias, order_bias
from evenhand.reliability.showings import Showings
from evenhand.reliability.summary import Conclusion, Summary, trust

__all__ = ["Conclusion", "Coverage", "OrderBias", "Showings", "Summary", "order_bias", "trust"]
