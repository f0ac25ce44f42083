"""Whether a run is being gamed right now: monitors of every step, and second opinions with an error bound."""
