"""Tasks that bring their own rubrics."""
