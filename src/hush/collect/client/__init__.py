"""The client on a device: an account for each person, answers randomized once, and bytes sent until they arrive."""

from hush.collect.client.collector import Collector, Person, Persons
from hush.collect.client.receipts import Answered, Delivery, Receipt, Spent
from hush.collect.client.wire import Unreachable

__all__ = ["Answered", "Collector", "Delivery", "Person", "Persons", "Receipt", "Spent", "Unreachable"]
