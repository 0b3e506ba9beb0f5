# kafka_consumer.py: records of a topic → maintenance.py; approvals → another topic.
import json, os, sys
from cloudevents.core.bindings.kafka import KafkaMessage, from_kafka
from cloudevents.core.formats.json import JSONFormat
from confluent_kafka import Consumer, Producer
from maintenance import MACHINE, Maintenance, cloud_event, read, say, start_request

BROKERS = os.environ.get("BROKERS", "localhost:9092")
APPROVALS = os.environ.get("APPROVALS", "approvals")
producer = Producer({"bootstrap.servers": BROKERS, "enable.idempotence": True, "delivery.timeout.ms": 30_000})


def approve(event_id, seen):
    failures = []
    body = json.dumps(start_request(event_id, seen))
    producer.produce(APPROVALS, body, event_id.lower(), on_delivery=lambda error, _: error and failures.append(error))
    if producer.flush() or failures:
        raise RuntimeError(f"the approval was not sent: {failures}")
    return "sent"  # what becomes of it comes as approval.submitted or approval.failed


maintenance = Maintenance(approve)
group = os.environ.get("GROUP", f"maintenance-{MACHINE}")  # of this machine alone: each machine needs every record
consumer = Consumer({
    "bootstrap.servers": BROKERS,
    "group.id": group,
    "group.instance.id": f"{group}-0",  # a restarted consumer has its partitions back at once
    "session.timeout.ms": 6_000,  # one that stays away loses them after 6 s instead of 45: a Preempt gives 30 s of notice
    "heartbeat.interval.ms": 2_000,
    "max.poll.interval.ms": 900_000,  # longer than the longest prepare()
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
})
consumer.subscribe([os.environ.get("TOPIC", "maintenance")], on_assign=lambda *_: say("ready"))
while True:
    record = consumer.poll(1.0)
    if record is None:
        continue
    if record.error():
        say(record.error(), sys.stderr)  # the client mends it by itself
        continue
    try:
        message = KafkaMessage(dict(record.headers() or []), record.key(), record.value())
        event = from_kafka(message, JSONFormat(), cloud_event)
        change = read(event)
    except Exception as error:  # whatever the SDK raises: the record will be no better the next time
        maintenance.skip(f"{record.topic()}/{record.partition()}/{record.offset()}", error)
    else:
        maintenance.handle(event.get_id(), change)  # an error ends the program: its supervisor restarts it, and the record comes again
    consumer.commit(record)
