"""The shared base of the HTTP clients: it reads answers without trust, and repeats calls over a network that fails."""
