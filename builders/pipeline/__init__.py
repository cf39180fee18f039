"""What every build step shares: what is stale, which files a person changed, where a row comes from."""
