"""What was said about the columns to protect: their labels, by name or for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hush import rules, strict_json
from hush.cli.asked.mechanism import MechanismOptions, numeric_class
from hush.cli.asked.reading import whole
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.domains import from_plain, read_plain
from hush.files.paths import existing, quoted
from hush.mechanisms.spec import Spec
from hush.people.domain import Domain

if TYPE_CHECKING:
    from hush.multidim import Attributes


@dataclass(frozen=True)
class ColumnOptions:
    """The options that speak of columns; each is for all columns, or, after NAME=, for one."""

    columns: list[str]
    domains: list[str]
    others: list[str]
    sizes: list[str]

    @property
    def files(self) -> list[Path]:
        """The files that they name."""
        common, own = self._by_column("--domain", self.domains)
        return [Path(each) for each in [common, *own.values()] if each is not None]

    @property
    def k(self) -> int | None:
        """The size of the domain of a single column."""
        size = self._only("--k", self.sizes) if len(self.columns) == 1 else None
        return None if size is None else whole("--k")(size)

    def spec(self, choice: MechanismOptions) -> tuple[Spec, list[str]]:
        """The spec that all options describe, and the columns that its values are in, in its order."""
        if len(set(self.columns)) < len(self.columns):
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise ParameterError(message("--column", "must be different columns", twice, "name each one once"))
        if choice.spec is not None and self.domains:
            rule, remedy = "must not stand beside --spec", "the spec has its own domain"
            raise ParameterError(message("--domain", rule, Unsaid("both"), remedy))
        if choice.tells_tuples and choice.spec is not None:
            return self._in_file(choice)
        if not self.columns:
            raise ParameterError(message("--column", "must be given", NOTHING, "name the column to protect"))
        if len(self.columns) > 1 and choice.spec is not None:
            rule = f"must be given once for {choice.spec}, which is of a single value"
            raise ParameterError(message("--column", rule, self.columns, "name one, or a spec of several attributes"))
        if len(self.columns) > 1 or choice.tells_tuples:
            return choice.of_tuples(self._attributes(), read_priors), self.columns
        return self._of_one(choice), self.columns

    def _of_one(self, choice: MechanismOptions) -> Spec:
        """The spec of a single value."""
        file, other = self._only("--domain", self.domains), self._only("--other", self.others)
        if file is None and choice.k is None and choice.spec is None and numeric_class(choice.mechanism) is None:
            raise ParameterError(message("domain", _NEVER, NOTHING, _LABELS))
        if other is not None and file is None:
            said = "leave it out, the spec says it" if choice.spec is not None else "add --domain with a file of labels"
            raise ParameterError(message("--other", "needs labels beside it", other, said))
        return choice.build_any(None if file is None else self._of_file(Path(file), other))

    def _of_file(self, file: Path, other: str | None) -> Domain:
        """The domain of the one column, also from a file that has those of several by their names."""
        plain, name = read_plain(file, "--domain"), self.columns[0]
        if isinstance(plain, dict) and name in plain and not {"labels", "size"} & plain.keys():
            return _domain(plain[name], f"{file}, {name}", other, None, name)
        return from_plain(plain, other, str(file), "--domain")

    def _only(self, option: str, given: list[str]) -> str | None:
        """What an option says of the one column; its name may stand before a file or a size, too."""
        if len(given) > 1:
            raise ParameterError(message(option, "must be given once for one column", given, "leave the others out"))
        if not given:
            return None
        named = f"{self.columns[0]}="
        plain = option == "--other" or not given[0].startswith(named) or Path(given[0]).exists()
        return given[0] if plain else given[0].removeprefix(named)

    def _in_file(self, choice: MechanismOptions) -> tuple[Spec, list[str]]:
        """The spec of tuples in a file: its own names are the columns, in whichever order those are given."""
        for option, given in {"--other": self.others, "--k": self.sizes}.items():
            if given:
                rule = "must not stand beside --spec, which has the domains of its attributes"
                raise ParameterError(message(option, rule, given[0], "leave it out"))
        spec = choice.of_tuples()
        names, d = spec.domain.names, spec.mechanism.d
        if names is None and len(self.columns) != d:
            rule = f"must be given {d} times, for the attributes of {choice.spec} in their order"
            raise ParameterError(message("--column", rule, len(self.columns), "name a column for each"))
        if names is not None and self.columns and {*self.columns} != {*names}:
            rule = f"must be the attributes of {choice.spec}: {', '.join(names)}"
            raise ParameterError(message("--column", rule, self.columns, "leave it out, or rename the columns"))
        return spec, self.columns if names is None else list(names)

    def _attributes(self) -> Attributes:
        """The domain of each column."""
        from hush.multidim import Attributes

        file, files = self._by_column("--domain", self.domains)
        size, sizes = self._by_column("--k", self.sizes)
        other, others = self._by_column("--other", self.others)
        common: Any = None if file is None else read_plain(Path(file), "--domain")
        named = isinstance(common, dict) and any(name in common for name in self.columns)
        domains: dict[str, Domain] = {}
        for name in self.columns:
            said: list[tuple[Any, str]] = []  # what the options say of its values, and where
            if name in files:
                said.append((read_plain(Path(files[name]), "--domain"), files[name]))
            if name in sizes:
                said.append((whole("--k")(sizes[name]), "--k"))
            if not said and file is not None and (not named or name in common):
                said.append((common[name] if named else common, f"{file}, {name}" if named else file))
            if not said and size is not None:
                said.append((whole("--k")(size), "--k"))
            if len(said) != 1:
                rule = f"must say once which values {name} has: labels are never taken from the data"
                got = NOTHING if not said else Unsaid("--k beside it")
                raise ParameterError(message("--domain", rule, got, f"add --domain {name}=FILE, or --k {name}=K"))
            domains[name] = _domain(*said[0], other, others.get(name), name)
        if other is not None and not any(each.labels for each in domains.values()):
            raise ParameterError(message("--other", "needs labels beside it", other, "add --domain with the labels"))
        return Attributes(tuple(domains.values()), tuple(domains))

    def _by_column(self, option: str, given: list[str]) -> tuple[str | None, dict[str, str]]:
        """What an option says of all columns, and what of each."""
        common: str | None = None
        own: dict[str, str] = {}
        for text in given:
            name = max((each for each in self.columns if text.startswith(f"{each}=")), key=len, default=None)
            if (name is None and common is not None) or name in own:
                rule = f"must be given once for {'all columns' if name is None else name}"
                raise ParameterError(message(option, rule, text, "leave one out, or write NAME= before it"))
            if name is None:
                common = text
            else:
                own[name] = text.removeprefix(f"{name}=")
        return common, own


_NEVER = "must be given: labels are never taken from the data, since which labels occur is itself private"
_LABELS = "add --domain with a file of labels, or --k for the values 0..k-1"


def _domain(said: Any, where: str, common: str | None, own: str | None, name: str) -> Domain:
    """The domain of one column; what takes in the rest is its own, that of its file, or the common one."""
    if isinstance(said, int):
        if own is not None:
            raise ParameterError(message("--other", f"needs labels beside it for {name}", own, "use --domain"))
        return Domain(size=rules.domain_size(said))
    has_own = isinstance(said, dict) and ("other" in said or "labels" not in said)
    return from_plain(said, own if own is not None or has_own else common, where, "--domain")


def read_priors(path: Path, attributes: Attributes) -> list[list[float]]:
    """Distributions in a JSON file: by name or in a list, each a list of shares or an object of labels and shares."""
    option = "--set priors"
    existing(option, path)
    try:
        plain = strict_json.loads(path.read_bytes())
    except ValueError as error:
        raise ParameterError(message(option, "must be JSON", quoted(path), f"the reader says: {error}")) from None
    names = [attributes.word(j) for j in range(len(attributes.domains))]
    if isinstance(plain, dict) and all(name in plain for name in names):
        plain = [plain[name] for name in names]
    if not isinstance(plain, list) or len(plain) != len(names):
        rule = f"must have a distribution for each of {', '.join(names)} in {path}"
        raise ParameterError(message(option, rule, type(plain), "write an object with a list of shares for each"))
    pairs = zip(plain, attributes.domains, names, strict=True)
    return [_shares(each, domain, f"{name} in {path}") for each, domain, name in pairs]


def _shares(plain: Any, domain: Domain, where: str) -> list[float]:
    if isinstance(plain, dict):
        labels = [str(domain.label(i)) for i in range(domain.size)]
        if {*plain} != {*labels}:
            rule = f"must give each label a share, and nothing else, for {where}"
            raise ParameterError(message("--set priors", rule, Unsaid("others"), "write 0 for what does not occur"))
        plain = [plain[label] for label in labels]
    if not isinstance(plain, list) or not all(isinstance(x, (int, float)) for x in plain):
        rule = f"must be numbers for {where}"
        raise ParameterError(message("--set priors", rule, type(plain), "write a list of shares"))
    return [float(x) for x in plain]
