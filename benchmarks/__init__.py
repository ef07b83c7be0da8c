"""Which programs to time, how to time them, and what to weigh the times against."""
