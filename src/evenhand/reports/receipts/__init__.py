"""Receipts of submissions: made, shown, checked, and what damage they tell."""
