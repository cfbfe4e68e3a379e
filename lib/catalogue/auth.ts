/** Operations on access tokens: the operator’s own client uses them if the upstream demands a second factor; a gateway never. */

import * as v from 'valibot';
import { notInText } from './decided.ts';
import { onPage, seen } from './notes.ts';
import { describe } from './operation.ts';
import { hasToken } from './outcomes.ts';
import { epochMilliseconds, omittable, text } from './schemas.ts';

const status = v.picklist(['PENDING', 'NORMAL', 'INVALID', 'EXPIRED']);

const token = v.pipe(
  v.looseObject({
    token: v.pipe(v.string(), v.description('32 hexadecimal digits.')),
    status,
    expires_at: v.nullish(epochMilliseconds),
    expires: v.nullish(v.pipe(epochMilliseconds, v.description('Name the vendor SDK reads.'))),
  }),
  v.title('Token'),
);

export const createToken = describe({
  id: 'createToken',
  group: 'auth',
  title: 'Create token',
  method: 'POST',
  path: '/auth/tokens/create',
  aliases: ['/openapi/auth/token/create'],
  endpointKind: 'token',
  query: {},
  body: v.looseObject({
    token: omittable(
      v.pipe(v.string(), v.description('Earlier token to renew, when the caller still has one.')),
    ),
  }),
  response: token,
  sideEffect: {
    findOut: 'A token that its owner does not approve has no effect: create another one.',
    saysOutcome: hasToken,
  },
  example: { body: {} },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk'],
    response: ['vendor-sdk', 'vendor-docs'],
  },
  notes: [
    onPage(
      'Needed only where two-factor checking is on for the app key; the result goes into the x-access-token header.',
    ),
    seen(
      'A new token is PENDING, and its owner gets an SMS and confirms in the mobile app within 5 minutes; then it is NORMAL. It lives about 15 days and is prolonged by use. The other states are INVALID and EXPIRED.',
    ),
    seen(
      'Whether a token is needed stands in token_check_enabled of GET /openapi/config: false in the sandbox. Where it is true, the event stream needs the token too.',
    ),
  ],
  decisions: [
    notInText,
    'The expiry is called expires_at in the docs and expires in the SDK; one of the two is there.',
    'The docs also show the secret as a header; the interface text never sends it, and so it is never sent.',
  ],
});

export const checkToken = describe({
  id: 'checkToken',
  group: 'auth',
  title: 'Check token',
  method: 'POST',
  path: '/auth/tokens/check',
  aliases: ['/openapi/auth/token/check'],
  endpointKind: 'token',
  query: {},
  body: v.looseObject({ token: text }),
  response: token,
  example: { body: { token: '5d0c9be27af14836b1d2e07745c6a98f' } },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-sdk', 'vendor-docs'],
  },
  decisions: [
    notInText,
    'The expiry is called expires_at in the docs and expires in the SDK; one of the two is there.',
  ],
});
