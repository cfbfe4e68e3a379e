"""A client of the interface written from its facts alone: gRPC, protobuf and signatures share nothing with this project.

Reads one JSON command a line, and writes what comes as one JSON object a line.
"""

import base64
import hashlib
import hmac
import http.client
import json
import sys
import threading
import time
import urllib.parse
import uuid

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

Field = descriptor_pb2.FieldDescriptorProto


def messages():
    """The two messages by name, from their field numbers."""
    file = descriptor_pb2.FileDescriptorProto(name="events.proto", package="events", syntax="proto3")

    def add(name, fields):
        message = file.message_type.add(name=name)
        for number, (field, kind, label) in enumerate(fields, 1):
            message.field.add(name=field, number=number, type=kind, label=label)

    one, many = Field.LABEL_OPTIONAL, Field.LABEL_REPEATED
    add("Request", [
        ("subscribeType", Field.TYPE_UINT32, one),
        ("timestamp", Field.TYPE_INT64, one),
        ("contentType", Field.TYPE_STRING, one),
        ("payload", Field.TYPE_STRING, one),
        ("accounts", Field.TYPE_STRING, many),
    ])
    # Kinds that come later must pass: an open enumeration is read as its number.
    add("Event", [
        ("eventType", Field.TYPE_INT32, one),
        ("subscribeType", Field.TYPE_UINT32, one),
        ("contentType", Field.TYPE_STRING, one),
        ("payload", Field.TYPE_STRING, one),
        ("requestId", Field.TYPE_STRING, one),
        ("timestamp", Field.TYPE_INT64, one),
    ])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"events.{name}"))
            for name in ("Request", "Event")}


Messages = messages()


def signing(app_key, nonce=None, timestamp=None):
    return {
        "x-app-key": app_key,
        "x-signature-algorithm": "HMAC-SHA256",
        "x-signature-version": "1.0",
        "x-signature-nonce": nonce or uuid.uuid4().hex,
        "x-timestamp": timestamp or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def signature(text, secret):
    encoded = urllib.parse.quote(text, safe="~")
    digest = hmac.new(f"{secret}&".encode(), encoded.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def sign_stream(metadata, message, secret):
    pairs = "=".join(f"{name}={metadata[name]}" for name in sorted(metadata))
    return signature(f"{pairs}&{hashlib.sha256(message).hexdigest()}", secret)


def post(command):
    body = json.dumps(command["body"], separators=(",", ":")).encode()
    host = f"127.0.0.1:{command['port']}"
    headers = {**signing(command["appKey"]), "host": host}
    pairs = "&".join(f"{name}={headers[name]}" for name in sorted(headers))
    text = f"{command['path']}&{pairs}&{hashlib.sha256(body).hexdigest().upper()}"
    headers["x-signature"] = signature(text, command["appSecret"])
    headers |= {"x-version": "v3", "content-type": "application/json"}
    connection = http.client.HTTPConnection(host)
    connection.request("POST", command["path"], body, headers)
    answer = connection.getresponse()
    tell({"answer": answer.status, "body": json.loads(answer.read())})
    connection.close()


lock = threading.Lock()


def tell(what):
    with lock:
        print(json.dumps(what), flush=True)


def subscribe(command):
    """`change` replaces metadata after signing: null leaves one out."""
    message = Messages["Request"](**command["request"]).SerializeToString()
    metadata = signing(command["appKey"], command.get("nonce"), command.get("timestamp"))
    metadata["x-signature"] = sign_stream(metadata, message, command["appSecret"])
    metadata |= command.get("change", {})
    threading.Thread(target=listen, args=(command, message, metadata), daemon=True).start()


def listen(command, message, metadata):
    name = command["name"]
    with grpc.insecure_channel(f"127.0.0.1:{command['port']}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
        method = channel.unary_stream(
            "/grpc.trade.event.EventService/Subscribe",
            request_serializer=lambda bytes: bytes,
            response_deserializer=Messages["Event"].FromString,
        )
        call = method(message, metadata=[pair for pair in metadata.items() if pair[1] is not None])
        try:
            for event in call:
                tell({"stream": name, "event": json_format.MessageToDict(
                    event, always_print_fields_with_no_presence=True)})
        except grpc.RpcError:
            pass
        tell({"stream": name, "status": call.code().value[0]})


def sign(command):
    message = Messages["Request"](**command["request"]).SerializeToString()
    metadata = signing(command["appKey"], command["nonce"], command["timestamp"])
    tell({"hex": message.hex(), "signature": sign_stream(metadata, message, command["appSecret"])})


for line in sys.stdin:
    asked = json.loads(line)
    {"subscribe": subscribe, "post": post, "sign": sign}[asked.pop("do")](asked)
