"""Prompts: templates, the fence around a policy's text, the guard against answers without content."""
