"""What is asked and how a reply is read: judging, answering, grading, describing images, extraction, reading again.

Start with `asking.py`.
"""
