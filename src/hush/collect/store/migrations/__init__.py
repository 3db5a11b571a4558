"""Steps that bring a store from any earlier version to this one; alembic runs them."""
