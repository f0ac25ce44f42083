"""The environments that come with the reference server."""
