"""What commands show: tables, notes and bars on the terminal, and the files that they write."""
