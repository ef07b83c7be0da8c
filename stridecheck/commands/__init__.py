"""The commands, a module for each kind; `stridecheck.cli` gathers them."""
