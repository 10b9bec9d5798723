"""Who scores the records of a run, and when: beside asking, in several processes, or one after the other at the end."""
