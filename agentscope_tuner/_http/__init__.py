"""The one road to a service over HTTP: connections, limits, retries, and answers that are read without trust."""
