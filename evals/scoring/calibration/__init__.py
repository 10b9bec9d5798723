"""How a judge fares against people's labels, and what its means are without its bias."""
