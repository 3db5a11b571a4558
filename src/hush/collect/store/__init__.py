"""What a collector keeps: collections, batches, aggregates, refusals, tokens; in SQLite or PostgreSQL."""
