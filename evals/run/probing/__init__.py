"""How is a server without a profile asked and read? Found out by looking at it, and by one question."""
