"""What options mean: from the words of a command line to what the library is asked."""
