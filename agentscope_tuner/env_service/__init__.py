"""Environments that judge themselves: the client of an environment service, its episode handle, a reference server."""
