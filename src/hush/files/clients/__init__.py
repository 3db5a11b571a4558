"""What many people's devices keep from one collection to the next, in one file.

A store has, for each collection (by the hash of its spec) and each person, what was drawn once, the permanent answers,
and how many reports there were. It is as sensitive as the data themselves: permanent answers tell of the values.
People's names are not in it, only their keyed hashes; but the key is in it, too, so whoever has the file can try names.
"""

from hush.files.clients.account import Account, cost
from hush.files.clients.rows import PeopleRows, rows_of
from hush.files.clients.store import ClientStore, StoreRun
from hush.files.clients.table import PeopleTable

__all__ = ["Account", "ClientStore", "PeopleRows", "PeopleTable", "StoreRun", "cost", "rows_of"]
