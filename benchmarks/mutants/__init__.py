"""How many changes of the deciding modules the tests notice: `make mutants`."""
