"""Who may ask the workbench: hosts and origins of requests, sessions, and what each may do."""
