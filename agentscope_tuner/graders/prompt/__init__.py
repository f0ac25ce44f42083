"""Prompts: templates, the fence around a policy's text, and the check for answers without content."""
