/** Headers and parameters of requests that the gateway's journal records: how a repeated request is recognised. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import type { Json, JsonObject } from '../json.ts';

/** Headers by their names in the document's components. */
export const journalHeaders = {
  IdempotentReplayed: {
    description:
      '`true` where the request came before, or its answer was lost: it was not sent again, and the body says what became of the first.',
    schema: { type: 'string', enum: ['true'] },
  },
} as const;

/** Headers of the responses, in lower case. */
export const replayHeadersOf = ({ sideEffect }: Operation): JsonObject =>
  sideEffect?.journal ? { 'idempotent-replayed': { $ref: '#/components/headers/IdempotentReplayed' } } : {};

/** Parameters with the idempotency key; none for placed orders, whose own ids are their keys. */
export const keyParametersOf = ({ sideEffect }: Operation): readonly JsonObject[] =>
  sideEffect?.journal?.by === 'idempotency-key' ? [idempotencyKey] : [];

const idempotencyKey = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'Chosen by the client, one for each change that it means: with the same key and the same contents the request is executed once within 24 hours, however often it comes. With other contents it is refused with 409.',
  // No space at either end: HTTP would lose it.
  schema: { type: 'string', pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
} as const;

/** Examples, by operation id, of answers that the gateway gives by itself; the simulated upstream cannot give them. */
export const ownExamples: Readonly<Record<string, Json>> = {
  getOrderOutcome: {
    client_order_id: 'gw-20261020-000003',
    state: 'accepted',
    begun_at: '2026-10-21T15:00:00.000Z',
    settled_at: '2026-10-21T15:00:00.120Z',
    evidence: 'answer',
    order_id: '5CMVJ3F0N8LAF3OUDGLQKQ5G29',
    request_id: '5bede46d-440d-41ae-a2e1-570d323012d3',
  },
};

/** Paragraph for the operation's description. */
export function journalInProse({ sideEffect }: Operation): string | undefined {
  const { journal } = sideEffect ?? {};
  if (!journal) return undefined;
  if (journal.by === 'client_order_id')
    return 'Safe to send again unchanged: an order of the same `client_order_id` and the same contents is placed once, and answered with what became of it. With other contents it is refused with 409, unless the first was refused.';
  return 'Safe to send again unchanged with the same header `Idempotency-Key`, for 24 hours.';
}
