"""Saved runs as one HTML page that holds all it needs: numbers, charts, questions, and nothing from a network.

Three seams, by which more is added without a change to what is there:

1. What a page is made of. `PARTS` in `parts.py` lists the parts of a page. A part is a function from the runs of the
   page to data blocks, and one to HTML that is read without JavaScript; either may give nothing. The comparison of two
   runs is one more part.
2. What the browser shows. `assets.py` lists the scripts and style sheets, which are put together as they are, each
   script a file about one thing. `pages.register(name, render, options)` in `assets/pages.js` adds a page, which the
   address `#/name/…` opens; `pages.part(page, name, render)` adds a section to a page.
3. Where data comes from. A data block is a name and a JSON value. `RunBlocks` gives those of a run, each made when it
   is asked for: `b11a5b07/overview`, `b11a5b07/questions`, `b11a5b07/details/0` and so on. `write_report` puts all of
   them into the file; a server can give each under its name, as `packed` made it. In the browser
   `blocks.get(name) -> Promise<object>` is the one way to a block. Who serves blocks over HTTP sets another reader
   with `blocks.use(name => Promise<object>)` in a script of its own.
"""

from evals.report.blocks import Block, packed
from evals.report.document import report_pieces, write_report
from evals.report.run_blocks import RunBlocks

__all__ = ["Block", "RunBlocks", "packed", "report_pieces", "write_report"]
