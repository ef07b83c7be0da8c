"""What the exit codes mean, for every command's help."""

INTERRUPTED = 130

EXIT_CODES = """
\b
Exit codes
  0  everything as expected
  1  unexpected outcomes, or a regression
  2  wrong usage: unknown adapter, bad option, broken file
  3  could not run: library not installed, directory not writable
  4  nothing was judged or measured
130  interrupted by Ctrl-C: what was done is in results.jsonl
"""
