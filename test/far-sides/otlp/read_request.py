# An export on standard input, its encoding as argument -> the request as JSON, read by the published definitions alone.
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

IDS = ("traceId", "spanId")


def records(request):
    return (record for group in request["resourceLogs"] for scope in group["scopeLogs"] for record in scope["logRecords"])


def with_ids(request, change):
    """OTLP writes ids in hex, where protobuf's JSON has base64."""
    for record in records(request):
        for name in IDS:
            if name in record:
                record[name] = change(record[name])
    return request


def read(encoding, data):
    if encoding == "json":
        request = with_ids(json.loads(data), lambda text: base64.b64encode(bytes.fromhex(text)).decode())
        return json_format.ParseDict(request, ExportLogsServiceRequest())
    message = ExportLogsServiceRequest.FromString(data)
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != data:
        raise ValueError("unknown fields, or not as the library writes it")
    return message


request = json_format.MessageToDict(read(sys.argv[1], sys.stdin.buffer.read()), use_integers_for_enums=True)
print(json.dumps(with_ids(request, lambda text: base64.b64decode(text).hex())))
