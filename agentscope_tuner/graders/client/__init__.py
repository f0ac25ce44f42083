"""One OpenAI-compatible client for every judge model: limits, retries, cache, usage, and how a reply is read."""
