"""What the clients of HTTP services share: answers read without trust, and calls answered over a network that fails."""
