# maintenance.py: CloudEvents of a bridge → this machine prepared for each scheduled event, approved, and recovered afterwards.
import json, os, re, sqlite3, sys, time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from cloudevents.core.v1.event import CloudEvent

PREFIX = "io.github.scheduled-events-bridge."
MACHINE = os.environ["MACHINE"].lower()
# After these reasons the next CloudEvent of the event says what to do. For any other one somebody has to look.
NEWS_FOLLOWS = {"changed", "started", "ended", "unknown", "old", "dry-run"}
GOOD = {"sent", "submitted", "submitting", "waiting", "held", "moot"}


def prepare(change):
    """Drains this machine: put your own work here. It runs again after a crash or an update. If change.drill, skip what cannot be undone."""
    time.sleep(float(os.environ.get("PREPARE_SECONDS", "1")))


def recover():
    """Takes up work again: put your own here. It runs again after a crash."""


@dataclass
class Change:
    source: str
    id: str
    key: str  # the event to which it belongs
    kind: str  # scheduled, updated, started, ended or approval.failed
    time: datetime
    observer: str | None
    event_id: str
    event_type: str = ""
    has_started: bool = False
    machines: tuple = ()
    not_before: datetime | None = None
    drill: bool = False
    result: str | None = None  # the outcome of ended, the reason of approval.failed

    @property
    def number(self):
        """How often the event came with this id: 2 for `…:r2`."""
        found = re.search(r":r(\d+)$", self.id)
        return int(found[1]) if found else 1

    def is_newer(self, number, observer, at):
        """Returns whether it belongs to a later occurrence than the `ended` with these values."""
        return self.number > number or (observer is not None and self.observer == observer and self.time.timestamp() > at)


def cloud_event(attributes, data):
    """Makes the SDK's event. Raises ValueError if there is no id: the SDK would invent one, another at each delivery."""
    if "id" not in attributes:
        raise ValueError("no id")
    return CloudEvent(attributes, data)


def read(event):
    """Returns the Change in a CloudEvent, or None if its type is not needed. Raises an error if its data are not what the type promises."""
    kind = event.get_type().removeprefix(PREFIX).removesuffix(".v1")
    if event.get_type() != f"{PREFIX}{kind}.v1" or kind not in {"scheduled", "updated", "started", "ended", "approval.failed"}:
        return None
    data = event.get_data()
    common = (event.get_source(), event.get_id(), event.get_extension("partitionkey"), kind, event.get_time())
    where = (data["observer"]["name"], data["eventId"])
    if kind == "approval.failed":
        return Change(*common, *where, result=data["reason"])
    machines = tuple(name.lower() for name in data["resources"])
    not_before = data["notBefore"] and datetime.fromisoformat(data["notBefore"])
    # data.drill, not the attribute: that is not signed in binary mode, and a text there.
    is_drill, has_started = data.get("drill") is True, data["eventStatus"] == "Started"
    return Change(*common, *where, data["eventType"], has_started, machines, not_before, is_drill, data.get("outcome"))


class Maintenance:
    """`approve` takes an EventId and the id of the CloudEvent that was seen. It returns the result, or why it was refused."""

    def __init__(self, approve):
        self.approve = approve
        self.skipped = 0
        self.db = sqlite3.connect(os.environ.get("STATE", "maintenance.db"), isolation_level=None, check_same_thread=False)
        self.db.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS seen (source, id, at DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (source, id));
            CREATE TABLE IF NOT EXISTS event
                (source, key, state, seen, tries DEFAULT 0, end_number, end_observer, end_time, PRIMARY KEY (source, key));
            CREATE TABLE IF NOT EXISTS inbox (place INTEGER PRIMARY KEY AUTOINCREMENT, body);
            DELETE FROM seen WHERE at < datetime('now', '-31 days');
            DELETE FROM event WHERE state = 'ended' AND end_time < unixepoch('now', '-31 days');
        """)
        say(f"resuming: prepared for {self.prepared()} events", sys.stderr)

    def prepared(self):
        """For how many events this machine is prepared. If it is not 0 after a restart, stay out of work."""
        return self.db.execute("SELECT count(*) FROM event WHERE state <> 'ended'").fetchone()[0]

    def skip(self, place, error):
        self.skipped += 1
        say(f"skipped {self.skipped}: {place}: {type(error).__name__}: {error}".replace("\n", " "))

    def handle(self, event_id, change):
        """Handles a change once. If it raises, call it again with the same change. `event_id` is the CloudEvent's."""
        if change is None:
            return say(f"passed {event_id}: other type")
        if self.db.execute("SELECT 1 FROM seen WHERE source = ? AND id = ?", (change.source, change.id)).fetchone():
            return say(f"passed {change.id}: repeat")
        passed = self.act(change)
        if passed:
            say(f"passed {change.id}: {passed}")
        self.db.execute("INSERT OR IGNORE INTO seen (source, id) VALUES (?, ?)", (change.source, change.id))

    def act(self, change):
        """Returns why there was nothing to do, or None."""
        columns = "state, seen, tries, end_number, end_observer, end_time"
        found = self.db.execute(f"SELECT {columns} FROM event WHERE source = ? AND key = ?", (change.source, change.key)).fetchone()
        state, seen, tries, *end = found or ("unknown", None, 0, None, None, None)
        is_over = state == "ended" if change.kind in ("updated", "approval.failed") else end[0] and not change.is_newer(*end)
        if is_over:
            return "ended"
        is_prepared = state in ("preparing", "prepared", "started")
        if change.kind == "approval.failed":
            return self.refused(change, seen, tries) if is_prepared else "not prepared for"
        if change.kind == "ended":
            return self.end(change, is_prepared)
        if change.has_started and state in ("prepared", "started"):
            self.save(change, "started", seen)
            return say(f"started {change.event_id}")
        if change.not_before and change.not_before < datetime.now(timezone.utc) - timedelta(minutes=10):
            return "old news"
        if not is_prepared and MACHINE not in change.machines:
            return "not for this machine"
        self.save(change, "preparing", change.id)  # on disk before the work
        say(f"preparing {change.event_id} {change.event_type}{' (drill)' if change.drill else ''}")
        prepare(change)
        self.save(change, "started" if change.has_started else "prepared", change.id)
        if not change.has_started and change.event_type != "SpotRebalanceRecommendation":  # that is advice, there is nothing to start
            self.report(change, self.approve(change.event_id, change.id))

    def end(self, change, is_prepared):
        left = self.prepared() - is_prepared
        if is_prepared and not left:
            recover()
        self.save(change, "ended", None)
        end = (change.number, change.observer, change.time.timestamp())
        self.update("end_number = ?, end_observer = ?, end_time = ?", change, *end)
        if not is_prepared:
            return "not prepared for"
        say(f"ended {change.event_id}: {change.result}, {left} left" if left else f"recovered {change.event_id}: {change.result}")

    def refused(self, change, seen, tries):
        self.report(change, change.result)
        if change.result == "refused" and tries < 3:  # by the metadata service, though the event is still Scheduled
            self.update("tries = tries + 1", change)
            time.sleep(1)
            self.report(change, self.approve(change.event_id, seen))

    def report(self, change, result):
        is_mended = result in NEWS_FOLLOWS | GOOD or result == "refused" and change.kind == "approval.failed"
        say(f"approval {change.event_id}: {result}{'' if is_mended else ', needs an operator'}")

    def save(self, change, state, seen):
        self.db.execute("INSERT OR IGNORE INTO event (source, key) VALUES (?, ?)", (change.source, change.key))
        self.update("state = ?, seen = ?, tries = 0", change, state, seen)

    def update(self, columns, change, *values):
        self.db.execute(f"UPDATE event SET {columns} WHERE source = ? AND key = ?", (*values, change.source, change.key))


def start_request(event_id, seen):
    """The body of an approval. With Seen it counts only if the event has not got worse since that CloudEvent."""
    return {"StartRequests": [{"EventId": event_id, "Seen": seen}]}


def say(line, file=sys.stdout):
    print(line, file=file, flush=True)
