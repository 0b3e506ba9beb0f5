# service_bus_consumer.py: messages of a subscription with sessions → maintenance.py; approvals → a queue.
import json, os, sys, time
from azure.identity import DefaultAzureCredential
from azure.servicebus import NEXT_AVAILABLE_SESSION, AutoLockRenewer, ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import OperationTimeoutError, ServiceBusError
from cloudevents.core.bindings.amqp import AMQPMessage, from_amqp
from cloudevents.core.formats.json import JSONFormat
from maintenance import Maintenance, cloud_event, read, say, start_request

TOPIC, SUBSCRIPTION = os.environ.get("TOPIC", "maintenance"), os.environ.get("SUBSCRIPTION", "orders")
connection = os.environ.get("SERVICE_BUS", "my-ns.servicebus.windows.net")


def client(**options):
    if connection.startswith("Endpoint="):
        return ServiceBusClient.from_connection_string(connection, **options)
    return ServiceBusClient(connection, DefaultAzureCredential(), **options)


# Without retries of its own: it would ask a link that the service has ended again and again, for 11 s of each minute.
receiving = client(retry_total=0)
sender = client().get_queue_sender(os.environ.get("APPROVALS", "approvals"))


def approve(event_id, seen):
    sender.send_messages(ServiceBusMessage(json.dumps(start_request(event_id, seen))))
    return "sent"  # what becomes of it comes as approval.submitted or approval.failed


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def event_in(message):
    properties = {text(name): text(value) for name, value in (message.application_properties or {}).items()}
    return from_amqp(AMQPMessage({"content-type": message.content_type or ""}, properties, b"".join(message.body)), JSONFormat(), cloud_event)


maintenance = Maintenance(approve)
renewer = AutoLockRenewer()


def receive_session():
    """One scheduled event is one session. Waits half a minute for one, then handles its messages in order until there are no more."""
    sessions = {"session_id": NEXT_AVAILABLE_SESSION, "max_wait_time": 30}
    with receiving.get_subscription_receiver(TOPIC, SUBSCRIPTION, **sessions) as receiver:
        messages = receiver.receive_messages()
        # The lock is short (PT5S), so that a killed consumer blocks the session for 5 s only. It is renewed while prepare() works.
        renewer.register(receiver, receiver.session, max_lock_renewal_duration=900)
        while messages:
            receive(receiver, messages[0])
            messages = receiver.receive_messages(max_wait_time=0.2)


def receive(receiver, message):
    try:
        event = event_in(message)
        change = read(event)
    except Exception as error:  # whatever the SDK raises: the message will be no better the next time
        maintenance.skip(message.message_id, error)
        return receiver.dead_letter_message(message, reason="not a CloudEvent", error_description=str(error)[:1000])
    maintenance.handle(event.get_id(), change)  # an error ends the program: its supervisor restarts it, and the message comes again
    receiver.complete_message(message)


say("ready")
while True:
    try:
        receive_session()
    except OperationTimeoutError:
        pass  # no session has messages
    except ServiceBusError as error:
        say(error, sys.stderr)
        time.sleep(1)
