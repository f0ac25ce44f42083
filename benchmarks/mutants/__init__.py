"""How many changes of the package the tests notice: `make mutants`."""
