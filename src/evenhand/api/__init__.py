"""What a notebook uses, and the commands with it: a typed call for each thing that can be asked of Evenhand.

Start with judging.py (`judge`) and reading.py (`rank`, `score`, `report`, `align`, `read_verdicts`). jobs.py plans and
carries out what judges are asked, for the commands too; asking.py says who is asked, terms.py as a notebook says it,
items.py about what. Nothing here prints.
"""
