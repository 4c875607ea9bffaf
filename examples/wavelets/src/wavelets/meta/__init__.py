"""The shapes of results, where no word of `shape:` says them."""
