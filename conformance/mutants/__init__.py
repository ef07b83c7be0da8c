"""The suite's own score: libraries that are wrong on purpose, and how many of them are found out."""
