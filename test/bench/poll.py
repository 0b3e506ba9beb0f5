# URL of the metadata service, seconds → for ever: the document, read as a small script would.
import sys
import time

import requests

url, interval = sys.argv[1], float(sys.argv[2])
incarnation = None

while True:
    started = time.monotonic()
    response = requests.get(
        url + "/metadata/scheduledevents", headers={"Metadata": "true"}, params={"api-version": "2020-07-01"}, timeout=10
    )
    document = response.json()
    if document["DocumentIncarnation"] != incarnation:
        incarnation = document["DocumentIncarnation"]
        for event in document["Events"]:
            print(event["EventId"], event["EventType"], event["EventStatus"], flush=True)
    time.sleep(max(0, interval - (time.monotonic() - started)))
