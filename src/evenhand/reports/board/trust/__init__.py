"""How far a board's judge can be trusted, as it stands under the board.

`trust_word.py` has the sentence, `audit_on_record.py` the latest audit, `audit_hint.py` the command for one.
"""
