"""The examples on Spark, in an environment of their own: `make spark`."""
