"""Commands that stay: serve and worker."""
