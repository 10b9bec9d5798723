"""`python -m evals.cli`."""

from evals.cli import main

if __name__ == "__main__":
    main()
