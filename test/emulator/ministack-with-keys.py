"""
Starts the emulator so that functions see what they see on AWS: the id of a request's API key, which it leaves out, and
not its own variable AUTH, which it would hand to them. Where roles are enforced it prints each call of a role once: the
line begins with RIGHT.
"""

import json
import os
import sys

from ministack.app import main
from ministack.core import iam_evaluator
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

evaluate = iam_evaluator.evaluate
printed = set()


def evaluate_and_print(ctx, *policies):
    result = evaluate(ctx, *policies)
    role = iam_evaluator._role_name_from_assumed_arn(ctx.principal_arn)
    call = json.dumps([role, ctx.action, ctx.resource_arn, result.decision])
    # Policies of a secret or a queue are judged by the same function, and are not those of the role.
    is_of_role = sys._getframe(1).f_code.co_name == "enforce"
    if role and is_of_role and call not in printed:
        printed.add(call)
        print("RIGHT " + call, flush=True)
    return result


iam_evaluator.evaluate = evaluate_and_print
sys.exit(main())
