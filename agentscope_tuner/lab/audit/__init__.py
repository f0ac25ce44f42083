"""A red team for any configured judge, on the user's own rows: answers that must fail, and variants that must pass."""
