/** Configuration, which clients of the interface read before anything else. */

import * as v from 'valibot';
import { describe } from './operation.ts';

export const getConfig = describe({
  id: 'getConfig',
  group: 'config',
  title: 'Configuration',
  method: 'GET',
  path: '/openapi/config',
  aliases: [],
  query: {},
  response: v.looseObject({
    token_check_enabled: v.pipe(
      v.boolean(),
      v.description('Whether every other request needs an access token besides its signature.'),
    ),
  }),
  gatewayAnswer: {
    body: '{"token_check_enabled":false}',
    reason: 'a gateway holds the access token itself, and its callers need none',
  },
  example: {},
  sources: {
    path: ['observed', 'vendor-sdk'],
    request: ['observed', 'vendor-sdk'],
    response: ['observed', 'vendor-sdk'],
  },
  decisions: [
    'The interface text does not name this operation; it is here because existing clients read it before their first call. They fail unless it is 200 with an object that is not empty, and where token_check_enabled is true they create a token.',
  ],
});
