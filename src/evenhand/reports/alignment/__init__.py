"""How a judge's verdicts agree with people's."""
