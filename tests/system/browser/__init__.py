"""The client for web pages: in Node, and in a real browser against a real collector."""
