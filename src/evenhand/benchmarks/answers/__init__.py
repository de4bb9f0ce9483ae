"""Files of models' answers, from any layout, checked against the items that they answer.

Start with `responses_file.py`.
"""
