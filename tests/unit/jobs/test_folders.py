"""The transport of folders: a message is there whole or not at all, and one of several takers has it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection
from kombu.transport import filesystem

from kapsoweb.jobs import folders

QUEUE = "kapsoweb"
MESSAGES = 300


@pytest.fixture
def options(tmp_path: Path) -> dict[str, str]:
    messages = tmp_path / "messages"
    messages.mkdir()
    return {
        "data_folder_in": str(messages),
        "data_folder_out": str(messages),
        "control_folder": str(tmp_path / "control"),
    }


@pytest.fixture
def channel(options: dict[str, str]) -> Iterator[Any]:
    folders.register()
    with Connection("folders://localhost", transport_options=options) as connection:
        yield connection.channel()


def taken(channel: Any) -> list[Any]:
    """Every message that is there."""
    found = []
    while True:
        try:
            found.append(channel._get(QUEUE))
        except Empty:
            return found


def names(options: dict[str, str]) -> list[str]:
    return sorted(path.name for path in Path(options["data_folder_in"]).iterdir())


def test_the_scheme_names_this_transport_and_messages_come_in_their_order(
    channel: Any, options: dict[str, str]
) -> None:
    assert isinstance(channel, folders.Channel)
    for number in range(3):
        channel._put(QUEUE, {"number": number})
        channel._put("another", {"number": -1})
    assert [each["number"] for each in sorted(taken(channel), key=lambda each: each["number"])] == [0, 1, 2]
    assert [name.partition(".")[2] for name in names(options)] == ["another.msg"] * 3


@pytest.mark.parametrize("content", [b"", b'{"half": '])
def test_a_file_that_cannot_be_read_is_dropped_and_the_next_message_taken(
    channel: Any, options: dict[str, str], content: bytes
) -> None:
    Path(options["data_folder_in"], f"0_broken.{QUEUE}.msg").write_bytes(content)
    channel._put(QUEUE, {"number": 1})
    assert taken(channel) == [{"number": 1}]
    assert names(options) == []


def test_kombus_own_ends_its_worker_where_a_message_is_still_being_written(options: dict[str, str]) -> None:
    Path(options["data_folder_in"], f"0_begun.{QUEUE}.msg").touch()
    with (
        Connection("filesystem://localhost", transport_options=options) as connection,
        pytest.raises(ValueError, match="Expecting value"),
    ):
        filesystem.Channel._get(connection.channel(), QUEUE)


def test_takers_at_the_same_moment_get_every_message_once_and_whole(channel: Any, options: dict[str, str]) -> None:
    def put() -> None:
        for number in range(MESSAGES):
            channel._put(QUEUE, {"number": number, "padding": "x" * 5000})

    found: list[int] = []
    raised: list[BaseException] = []
    done = threading.Event()

    def take() -> None:
        try:
            while True:
                last = done.is_set()
                found.extend(each["number"] for each in taken(channel))
                if last:
                    return
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    takers = [threading.Thread(target=take) for _ in range(3)]
    for taker in takers:
        taker.start()
    put()
    done.set()
    for taker in takers:
        taker.join()
    assert raised == []
    assert sorted(found) == list(range(MESSAGES))
    assert names(options) == []


def test_a_binding_is_written_into_a_table_that_is_there_whole(channel: Any, options: dict[str, str]) -> None:
    for name in ("one", "two", "one"):
        channel._queue_bind(QUEUE, QUEUE, "", name)
    assert [each.queue for each in channel.get_table(QUEUE)] == ["two", "one"]
    assert [path.name for path in Path(options["control_folder"]).iterdir()] == [f"{QUEUE}.exchange"]
