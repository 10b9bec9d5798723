"""How is a server asked and read that nobody wrote a profile for? Found out by looking at it, and by one question."""
