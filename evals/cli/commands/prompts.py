"""`evals prompts`: list the judge's prompts, show one, or copy them all to change them."""

from evals.cli.flags import PromptsFlags
from evals.cli.terminal import check_place, clean, console, show
from evals.errors import ConfigError, UnknownNameError
from evals.judges.prompts import FOLDER, load_prompt, prompt_names
from evals.report.elements import TableRow, TextTable
from evals.store.atomic import write_output


def prompts(flags: PromptsFlags) -> None:
    """List our prompts, show one, or write them to a folder, from which `judge.prompts` reads what was changed.

    Raises:
        UnknownNameError: There is no such prompt.
        ConfigError: The folder holds one of them already.
        StoreError: It cannot be written.
    """
    folder, out = flags.copy, console()
    if flags.name is not None:
        if flags.name not in prompt_names():
            raise UnknownNameError("prompt", flags.name, prompt_names())
        out.print(clean((FOLDER / f"{flags.name}.yml").read_text(encoding="utf-8").rstrip()), soft_wrap=True)
        return
    if folder is None:
        prompts = map(load_prompt, prompt_names())
        rows = [TableRow([each.name, str(each.version), each.hash]) for each in prompts]
        show(out, [TextTable(("prompt", "version", "hash"), rows, words=("hash",))])
        out.print("\n--copy FOLDER writes them; keep what you change, and name the folder with `judge.prompts`")
        return
    check_place(folder, "--copy")
    there = next((path for name in prompt_names() if (path := folder / f"{name}.yml").exists()), None)
    if there is not None:
        raise ConfigError(f"{there} is there already", "name an empty folder: what you changed would be lost")
    if folder.is_file():
        raise ConfigError(f"{folder} is a file", "name a folder with --copy")
    folder.mkdir(parents=True, exist_ok=True)
    for name in prompt_names():
        write_output(folder / f"{name}.yml", (FOLDER / f"{name}.yml").read_bytes())
    out.print(f"wrote {len(prompt_names())} prompts to {folder}; change `system`, delete those that stay, and name the "
              f"folder in the configuration: judge: {{prompts: {folder}}}", soft_wrap=True)  # fmt: skip
