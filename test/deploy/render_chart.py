# A chart and values as JSON → for each what helm's own library renders and remarks, and what Kubernetes' schemas refuse.
import functools
import json
import sys

import helm_python
import yaml
from helm_python.chart import Chart, lint, values_from_yaml
from kubernetes_validate import utils

# Read once, not once for each object.
utils.schema_contents = functools.lru_cache(maxsize=None)(utils.schema_contents)


def objects_of(rendered):
    manifests = [text for name, text in rendered.items() if name.endswith(".yaml")]
    return [found for text in manifests for found in yaml.safe_load_all(text) if found is not None]


def refused(objects, version):
    for found in objects:
        # Of the Prometheus operator: Kubernetes has no schema of it.
        if found["apiVersion"].startswith("monitoring.coreos.com/"):
            continue
        try:
            utils.validate(found, version, strict=True)
        except Exception as error:  # Whatever it is, the test shows it.
            yield f"{version} {found['kind']}: {getattr(error, 'message', error)}"


def play(chart, path, text, versions):
    values = values_from_yaml(text)
    try:
        objects = objects_of(chart.render(values, name="bridge", namespace="maintenance"))
    except helm_python.HelmError as error:
        return {"refused": str(error)}
    report = lint(path, values, strict=True, namespace="maintenance")
    remarks = [f"{message['path']}: {message['error']}" for message in report["messages"] if message["severity"] > 1]
    faults = [fault for version in versions for fault in refused(objects, version)]
    return {"objects": objects, "remarks": remarks + report["errors"], "faults": faults}


asked = json.load(sys.stdin)
with Chart.load(asked["chart"]) as chart:
    played = {name: play(chart, asked["chart"], text, asked["versions"]) for name, text in asked["values"].items()}
print(json.dumps(played))
