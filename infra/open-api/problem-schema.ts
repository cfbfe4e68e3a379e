/** The shapes of a refusal, as schemas. */

import * as v from 'valibot';
import { type RefusalCode, refusalKinds } from '../../lib/gateway/index.ts';
import { causes } from '../../lib/upstream/cause.ts';

export const codes = Object.keys(refusalKinds) as RefusalCode[];

const flatMembers = {
  title: v.pipe(v.string(), v.description('The status in words.')),
  status: v.pipe(v.number(), v.integer(), v.description('The status of the answer.')),
  detail: v.pipe(v.string(), v.description('For people; its words may change.')),
  code: v.pipe(v.picklist(codes), v.description('What a client switches on.')),
  request_id: v.pipe(v.string(), v.description('Names this request in the operator’s logs.')),
  error_code: v.pipe(
    v.string(),
    v.description('As clients of the interface know it; the upstream’s, if it has one.'),
  ),
  message: v.pipe(v.string(), v.description('As clients of the interface know it.')),
  find_out: v.optional(
    v.pipe(v.string(), v.description('How to learn what became of a request whose outcome is unknown.')),
  ),
  cause: v.optional(
    v.pipe(
      v.picklist(causes),
      v.description('For the operator: why the upstream refused, or was not reached.'),
    ),
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
  upstream_error_code: v.optional(v.pipe(v.string(), v.description('The upstream’s own code.'))),
  upstream_message: v.optional(v.pipe(v.string(), v.description('The upstream’s own words.'))),
  upstream_request_id: v.optional(v.pipe(v.string(), v.description('Names the request at the upstream.'))),
};

/** Documents what `refusalResponse` writes in its flat form: texts and numbers. */
export const refusal = v.looseObject(flatMembers);

/** Documents the nested form: the same members, and the lists of a wrong request or a partial answer. */
export const problem = v.looseObject({
  ...flatMembers,
  errors: v.optional(
    v.pipe(
      v.array(
        v.looseObject({
          in: v.picklist(['query', 'body', 'header']),
          name: v.pipe(v.string(), v.description('The parameter, or a JSON Pointer into the body.')),
          detail: v.string(),
          allowed: v.optional(v.pipe(v.string(), v.description('What would be right.'))),
          received: v.optional(v.pipe(v.string(), v.description('What came, shortened.'))),
          check: v.optional(
            v.pipe(
              v.string(),
              v.description('The pre-trade check that the order fails: `max_order_notional`.'),
            ),
          ),
        }),
      ),
      v.description('Each wrong part of the request.'),
    ),
  ),
  known: v.optional(
    v.pipe(
      v.array(v.looseObject({ age: v.pipe(v.number(), v.integer()), snapshot: v.looseObject({}) })),
      v.description('What is known of what was asked for, with its age in seconds.'),
    ),
  ),
  missing: v.optional(
    v.pipe(v.array(v.string()), v.description('The symbols of which nothing is known that may be shown.')),
  ),
});
