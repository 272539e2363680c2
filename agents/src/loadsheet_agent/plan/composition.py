"""Makes one plan of its parts: included files, its short form, the shelf, defaults and variables.

Works on the data of the TOML file, before the records are read: `plan.reading` checks the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.keys import Names, Texts, keys_of
from loadsheet_agent.plan.matrix import with_matrices
from loadsheet_agent.plan.place import Place
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.shelf import Shelf, parse_use, shelf_folder
from loadsheet_agent.plan.sources import merge, read_source, read_toml

# Keys that are gone from the composed data.
COMPOSED = (
    *("include", "shelf", "use", "variables", "server_defaults", "workload_defaults"),
    "short",
)
VARIABLE_NAME = re.compile(r"[a-z][a-z0-9_]*")
# Lists of tables that an included file adds to.
ADDED = ("servers", "workloads", "services", "use")


@dataclass
class Composition:
    """Makes one plan of its file and the files that it uses.

    `directory` is the plan's. `sources` has the texts of the plan files by name, `digests` the
    SHA-256 of the files that the servers' programs are made of.
    """

    place: Place
    directory: Path
    environ: Mapping[str, str]
    sources: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def with_sources(self, text: str) -> str:
        """The plan's text, followed by the files it used as comments: the record of the run."""
        parts = [text]
        for name, source in self.sources.items():
            lines = "".join(f"# {line}".rstrip() + "\n" for line in source.splitlines())
            parts.append(f"\n# ---- {name}\n{lines}")
        if self.digests:
            rows = "".join(f"# {digest}  {name}\n" for name, digest in sorted(self.digests.items()))
            parts.append(f"\n# ---- SHA-256 of further files\n{rows}")
        return "".join(parts)

    def compose(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data of the whole plan. Raises PlanError."""
        data = self._with_includes(data, self.directory, ())
        if data.get("form") == "short":
            data = merge(data, self._table(data, "short"))
        data = self._with_servers(data)
        data = self._with_workload_defaults(data)
        variables = self._variables(data)
        data = {name: value for name, value in data.items() if name not in COMPOSED}
        filled: dict[str, Any] = placeholders.fill_value(data, variables)
        return filled

    def _with_includes(
        self, data: dict[str, Any], directory: Path, seen: tuple[Path, ...]
    ) -> dict[str, Any]:
        names = Names().read(data.get("include", []), self.place.at("include"))
        whole: dict[str, Any] = {}
        for name in names:
            path = (directory / name).resolve()
            if path in seen:
                raise self.place.error(f"{name} includes itself; remove the include.")
            text = read_source(path)
            self.sources[name] = text
            part = self._with_includes(read_toml(text, name), path.parent, (*seen, path))
            whole = merge(whole, part, added=ADDED)
        return merge(whole, data, added=ADDED) if names else data

    def _with_servers(self, data: dict[str, Any]) -> dict[str, Any]:
        names = Names().read(data.get("use", []), self.place.at("use"))
        given = data.get("servers", [])
        if not _is_tables(given):
            return data  # reading says what is wrong with it
        tables = [*({"use": name} for name in names), *given]
        defaults = self._table(data, "server_defaults")
        servers: list[dict[str, Any]] = []
        for number, table in enumerate(tables, 1):
            at = self.place.at("servers").item(number)
            for server in self._from_shelf(table, data, defaults, at):
                servers += with_matrices(server, at)
        return {**data, "servers": servers} if servers else data

    def _from_shelf(
        self,
        table: dict[str, Any],
        data: dict[str, Any],
        defaults: dict[str, Any],
        place: Place,
    ) -> Iterable[dict[str, Any]]:
        """The table, once for each version of the shelf that it uses."""
        if "use" not in table:
            return [merge(defaults, table)]
        name, versions = parse_use(table["use"], place.at("use"))
        shelf = Shelf(shelf_folder(data.get("shelf"), self.directory, self.environ))
        own = {key: value for key, value in table.items() if key != "use"}
        entry = shelf.entry(name)
        servers = []
        for version in entry.pick_versions(versions):
            server = merge(merge(entry.server_table(version), defaults), own)
            servers.append(server)
            self.sources.update(entry.sources(version))
        self.digests.update(shelf.digests(name))
        return servers

    def _with_workload_defaults(self, data: dict[str, Any]) -> dict[str, Any]:
        defaults = self._table(data, "workload_defaults")
        if not defaults or not _is_tables(data.get("workloads")):
            return data
        return {**data, "workloads": [merge(defaults, table) for table in data["workloads"]]}

    def _variables(self, data: dict[str, Any]) -> dict[str, str]:
        place = self.place.at("variables")
        variables = Texts().read(data.get("variables", {}), place)
        for name in variables:
            if not VARIABLE_NAME.fullmatch(name) or name in placeholders.RESERVED:
                raise place.member(name).wrong(
                    "cannot be the name of a variable; choose another, of lower-case letters, "
                    "digits and _."
                )
        return variables

    def _table(self, data: dict[str, Any], name: str) -> dict[str, Any]:
        key, _ = keys_of(Plan)[name]
        table: dict[str, Any] = key.kind.read(data.get(name, {}), self.place.at(name))
        return table


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(table, dict) for table in value)
