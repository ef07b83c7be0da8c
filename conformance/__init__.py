"""Programs, rules, adapters, running, judging and shrinking.

This package stays empty on purpose: worker processes import `execute` in environments that hold nothing but a library.
"""
