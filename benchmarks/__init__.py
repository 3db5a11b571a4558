"""Speed, memory and start-up of Hush, with its peers beside it in one run.

`make bench`, or `python -m benchmarks [names...] [--quick] [--json FILE]`. Every benchmark is a function that returns
tables (`report.Table`); a table says what is required and marks what misses it.
"""
