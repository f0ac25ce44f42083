"""Programs judged by their tests: read a program and its tests, run it in a jail, compare what comes out."""
