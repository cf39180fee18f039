"""The only stage that invents text: characters, ledgers, memories, scenarios, decisions, questions."""
