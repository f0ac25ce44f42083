"""The countdown game: rollouts of a small model, and the judge that reads their boxed equations."""
