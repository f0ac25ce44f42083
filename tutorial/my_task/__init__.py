"""Your own judge, as the judge guide builds it."""
