# webhook_receiver.py: signed deliveries → maintenance.py; approvals → the bridge's HTTP interface.
import os, sys, threading, time, traceback
import requests
from cloudevents.core.formats.json import JSONFormat
from flask import Flask, request
from maintenance import Maintenance, cloud_event, read, say, start_request
from standardwebhooks import Webhook
from waitress import create_server

BRIDGE = os.environ.get("BRIDGE", "http://127.0.0.1:8700")
TOKEN = os.environ["BRIDGE_TOKEN"]
PASSING = {429, 502, 503, 504}  # asked again for a minute
webhook = Webhook(os.environ["HOOK_SECRET"])
app = Flask(__name__)
arrived = threading.Event()


def approve(event_id, seen):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    deadline = time.monotonic() + 60
    while True:
        pause, result = 1.0, "unreachable"
        try:
            answer = requests.post(f"{BRIDGE}/v1/approvals", json=start_request(event_id, seen), headers=headers, timeout=15)
            if answer.ok:
                return answer.json()["results"][0]["state"]
            pause = float(answer.headers.get("Retry-After", "1"))
            result = answer.json()["type"]
            if answer.status_code not in PASSING:
                return result
        except (requests.RequestException, ValueError, KeyError) as error:
            say(error, sys.stderr)  # away, or the page of a proxy
        if time.monotonic() + pause > deadline:
            return result
        time.sleep(pause)


maintenance = Maintenance(approve)


@app.post("/maintenance")
def deliver():
    body = request.get_data()
    try:
        webhook.verify(body, dict(request.headers), json_parse=False)
    except Exception:  # a header that is not a signature raises more than WebhookVerificationError
        return "", 401
    try:
        read(JSONFormat().read(cloud_event, body))
    except Exception as error:  # whatever the SDK raises
        maintenance.skip("delivery", error)
        return str(error), 400  # the bridge makes it a dead letter
    maintenance.db.execute("INSERT INTO inbox (body) VALUES (?)", (body,))  # on disk before the answer; the work comes after it
    arrived.set()
    return "", 204


def work():
    while True:
        arrived.clear()
        for place, body in maintenance.db.execute("SELECT place, body FROM inbox ORDER BY place").fetchall():
            event = JSONFormat().read(cloud_event, body)
            maintenance.handle(event.get_id(), read(event))
            maintenance.db.execute("DELETE FROM inbox WHERE place = ?", (place,))
        arrived.wait()


def work_or_end():
    try:
        work()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)  # an error ends the program: its supervisor restarts it, and the inbox is worked through again


threading.Thread(target=work_or_end, daemon=True).start()
server = create_server(app, host="127.0.0.1", port=int(os.environ.get("PORT", "9000")))
say("ready")
server.run()
