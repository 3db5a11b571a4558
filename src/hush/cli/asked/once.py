"""Options that are given once."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from hush.cli.asked import renamed
from hush.errors import ParameterError, Unsaid, message


class Once(TyperCommand):
    """A command that refuses an option given twice with a value: the last would win, and the first be forgotten.

    An option that has a new name is taken by its old one, too.
    """

    def make_parser(self, ctx: Any) -> Any:
        """The parser, which knows the old names."""
        parser = super().make_parser(ctx)
        renamed.understand(parser, self.name, self.get_params(ctx))
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options, each at most once unless it may be repeated."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        given = renamed.resolved(self.name, order)
        for option in given:
            single = option.param_type_name == "option" and not (option.multiple or option.is_flag or option.count)
            if single and given.count(option) > 1:
                name = max(option.opts, key=len)
                got = Unsaid(f"it {given.count(option)} times")
                raise ParameterError(message(name, "must be given once", got, "leave out all but one"))
        return super().parse_args(ctx, args)
