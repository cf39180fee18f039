"""Life ledgers: the facts that hold in a life, with the ages at which they hold."""
