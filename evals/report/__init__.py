"""Saved runs as one HTML page that holds all it needs: numbers, charts, questions, and nothing from a network.

Three seams, by which more is added without a change to what is there:

1. What a page is made of. `PARTS` in `parts.py` lists what makes the parts of a page, of the runs that it is about. A
   part has HTML that is read without JavaScript, and data blocks; either may be nothing. `Several` in `several.py` is
   the part of two runs or more: `compared/A/B` is the block of a run B beside a baseline A, and `trend` that of many.
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
from evals.report.several import Several

__all__ = ["Block", "RunBlocks", "Several", "packed", "report_pieces", "write_report"]
