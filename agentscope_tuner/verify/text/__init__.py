"""Pure verifiers of texts that are no formulas: length, shape, language, choices, fields, calls, instructions."""
