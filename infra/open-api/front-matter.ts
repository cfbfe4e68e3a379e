/** What a document has once: how the interface behaves, and the headers of its responses. */

import { sharingHeaders } from './cache.ts';
import { journalHeaders } from './journaled.ts';

export const introduction = `A broker’s Trading & Market Data interface, signed by a gateway: requests come without signing headers, and
answers are the upstream’s, byte for byte.

- **Decimals** are texts (\`"227.50"\`, format \`decimal\`), so that no digit is lost. A body may have them as
  JSON numbers, too, without an exponent. In an answer \`""\` and \`null\` mean that there is none.
- **Times** are Unix time in milliseconds, or ISO 8601 text where a member’s name ends in \`_at\`. Seen live are also
  milliseconds in a text (ticks), ISO 8601 text with \`+0000\` (bars) and \`yyyyMMdd\` (capital flow).
- **Bodies**: \`null\` counts as left out, for every member that is not required.
- **Parameters** that an operation does not name are refused, except where its description says that it takes
  any. No value of a query may have an \`&\` in it: the upstream’s signature cannot carry it. \`True\` and \`False\`
  are taken as \`true\` and \`false\`. A list comes as one parameter, or as several of its name. Members of a body
  that a schema does not name are passed on.
- **Answers** may have more members than their schemas: clients ignore what they do not know.
- **Shared answers**: what is the same for every caller is asked of the upstream once for all. \`age\` says how old
  it is; a client says with \`cache-control\` how old it may be.
- **Orders** are safe to send again unchanged: each is placed once, and \`idempotent-replayed\` marks an answer of
  another request. The other changes are with a header \`Idempotency-Key\`.
- **Errors** are flat JSON objects with a stable \`code\`. One 400 names every wrong parameter. A client whose
  \`accept\` names \`application/problem+json\` gets lists of them, too. A path that is not served answers 404
  \`unknown_operation\`; another method 405 \`method_not_allowed\`, or what API Gateway makes of it.
- **Aliases**, the paths of older versions, answer the same; they stand in \`x-aliases\`.`;

export const headers = {
  ...sharingHeaders,
  ...journalHeaders,
  RequestId: {
    description: 'Names this request in the operator’s logs.',
    schema: { type: 'string' },
  },
  UpstreamRequestId: {
    description: 'Names the request at the upstream, if that gave it a name.',
    schema: { type: 'string' },
  },
  CacheControl: {
    description: '`no-store`; of answers that all callers share `private` with `no-cache` or `max-age`.',
    schema: { type: 'string' },
  },
  WwwAuthenticate: {
    description:
      'Why a token is wanted, or not accepted (RFC 6750). API Gateway renames it to `x-amzn-remapped-www-authenticate` where a function answered.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds after which asking again makes sense, if something is known of it.',
    schema: { type: 'integer', minimum: 1 },
  },
};
