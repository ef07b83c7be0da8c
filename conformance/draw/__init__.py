"""Random programs, drawn from one small source interface with two drivers."""
