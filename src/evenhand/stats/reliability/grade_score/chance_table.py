"""What a judge who picks at random scores on average on whole rows, to eight options.

Made by `python -m bench.chance_table`.
"""

from types import MappingProxyType

from evenhand.stats.reliability.grade_score.chance_pattern import ExpectedPattern

EXACT = MappingProxyType(
    {
        2: ExpectedPattern(llm=0.5, choice=0.75, grade=0.5),
        3: ExpectedPattern(llm=0.6084756650793522, choice=0.6296296296296297, grade=0.5799774489609019),
        4: ExpectedPattern(llm=0.6619948241680437, choice=0.53125, grade=0.5709611053220074),
        5: ExpectedPattern(llm=0.6950959305667332, choice=0.45728, grade=0.5394873306828261),
        6: ExpectedPattern(llm=0.7180772212931282, choice=0.40136316872427985, grade=0.5054315309517626),
        7: ExpectedPattern(llm=0.7352043223743854, choice=0.3584378714894061, grade=0.4738488803795955),
        8: ExpectedPattern(llm=0.7485961924671211, choice=0.32465410232543945, grade=0.4458017690825046),
    }
)
"""By number of options."""
