"""Adapters bundled with the suite: each module imports its library, so it is loaded only where that is asked for."""
