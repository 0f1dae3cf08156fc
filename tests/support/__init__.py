"""What the tests share and import by name: strategies, made-up tables, writers of logs."""
