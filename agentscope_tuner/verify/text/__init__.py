"""Pure verifiers of texts other than formulas: length, shape, language, choices, fields, calls, instructions."""
