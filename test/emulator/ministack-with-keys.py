"""
Starts the emulator so that functions see what they see on AWS: the id of a request's API key, which it leaves out, and
not its own variable AUTH, which it would hand to them.
"""

import os
import sys

from ministack.app import main
from ministack.services import apigateway_v1 as gateway

os.environ.pop("AUTH", None)
build = gateway._build_lambda_event_v1


def build_with_key(api_id, stage_name, stage, resource, path, method, headers, *rest, **more):
    event = build(api_id, stage_name, stage, resource, path, method, headers, *rest, **more)
    methods = resource.get("resourceMethods", {})
    if (methods.get(method) or methods.get("ANY") or {}).get("apiKeyRequired"):
        key = gateway._resolve_api_key(gateway._api_key_from_request(headers))
        event["requestContext"]["identity"]["apiKeyId"] = key and key["id"]
    return event


gateway._build_lambda_event_v1 = build_with_key
sys.exit(main())
