"""`evals view`: the pages of a folder of runs in the browser, from a server on this machine that one person talks to.

`guard.py` says who gets an answer at all, `app.py` what there is to ask for, and `listening.py` how the server begins
and ends. The pages are those of `evals.report`, with data blocks that are fetched one by one; what is of the folder
alone (the list of runs, labelling) has its scripts in `assets/`.
"""
