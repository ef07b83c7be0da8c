"""Adapters bundled with the suite: each module imports its library, so it is only loaded where that library is asked for."""
