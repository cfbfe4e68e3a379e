/** Schemas of the two forms of a refusal. */

import * as v from 'valibot';
import { described } from '../../lib/catalogue/described.ts';
import { type RefusalCode, refusalKinds } from '../../lib/gateway/index.ts';
import { causes } from '../../lib/upstream/cause.ts';

export const codes = Object.keys(refusalKinds) as RefusalCode[];

const flatMembers = {
  title: described(v.string(), 'The status in words.'),
  status: v.pipe(v.number(), v.integer(), v.description('The status of the answer.')),
  detail: described(v.string(), 'For people; its words may change.'),
  code: described(v.picklist(codes), 'What a client switches on.'),
  request_id: described(v.string(), 'Names this request in the operator’s logs.'),
  error_code: described(v.string(), 'As clients of the interface know it; the upstream’s, if it has one.'),
  message: described(v.string(), 'As clients of the interface know it.'),
  find_out: v.optional(
    described(v.string(), 'How to learn what became of a request whose outcome is unknown.'),
  ),
  cause: v.optional(
    described(v.picklist(causes), 'For the operator: why the upstream refused, or was not reached.'),
  ),
  clock_offset_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.description('With the cause wrong_clock: by how much the gateway’s clock is ahead.'),
    ),
  ),
  upstream_status: v.optional(
    v.pipe(v.number(), v.integer(), v.description('The upstream’s status when it refused.')),
  ),
  upstream_error_code: v.optional(described(v.string(), 'The upstream’s own code.')),
  upstream_message: v.optional(described(v.string(), 'The upstream’s own words.')),
  upstream_request_id: v.optional(described(v.string(), 'Names the request at the upstream.')),
};

/** Documents what `refusalResponse` writes in its flat form: texts and numbers. */
export const refusal = v.looseObject(flatMembers);

/** Documents the nested form: the same members, and the lists of a wrong request or a partial answer. */
export const problem = v.looseObject({
  ...flatMembers,
  errors: v.optional(
    described(
      v.array(
        v.looseObject({
          in: v.picklist(['query', 'body', 'header']),
          name: described(v.string(), 'The parameter, or a JSON Pointer into the body.'),
          detail: v.string(),
          allowed: v.optional(described(v.string(), 'What would be right.')),
          received: v.optional(described(v.string(), 'What came, shortened.')),
          check: v.optional(
            described(v.string(), 'The pre-trade check that the order fails: `max_order_notional`.'),
          ),
        }),
      ),
      'Each wrong part of the request.',
    ),
  ),
  known: v.optional(
    described(
      v.array(v.looseObject({ age: v.pipe(v.number(), v.integer()), snapshot: v.looseObject({}) })),
      'What is known of what was asked for, with its age in seconds.',
    ),
  ),
  missing: v.optional(
    described(v.array(v.string()), 'The symbols of which nothing is known that may be shown.'),
  ),
});
