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
     (of several the first of 1, 3, 2, 0 and 4: what is red comes first)
130  interrupted by Ctrl-C: what was done is in results.jsonl
"""

READING_EXIT_CODES = """
\b
Exit codes
  0  done, whatever the results say
  2  wrong usage: no such results or failure, broken file
  3  could not be done: directory not writable, no script to be had
"""
"""Of commands that judge nothing, but tell what was judged."""
