"""`python -m hush`: the command, where the script is not on the path."""

from hush.cli import main

if __name__ == "__main__":
    main()
