"""Math word problems: rollouts of a small model, and the judge that reads their boxed answers."""
