"""An agent that walks over a frozen lake, judged by the lake."""
