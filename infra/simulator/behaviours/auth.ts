/** Tokens, and the configuration that tells whether one is needed. */

import type { checkToken, createToken } from '../../../lib/catalogue/index.ts';
import type { BodyIn } from '../parameters.ts';
import { parameterError } from '../refusal.ts';
import type { ShownToken } from '../tokens.ts';
import { answer, type Behaviours } from './behaviour.ts';

export const auth: Behaviours = {
  createToken: ({ body, now }, { tokens }) => {
    const { token } = body as BodyIn<typeof createToken>;
    if (token === undefined) return answer(shown(tokens.create(now)));
    const renewed = tokens.renew(token, now);
    return renewed ? answer(shown(renewed)) : parameterError('token');
  },

  /** Answers INVALID for a token that the simulator never issued; refuses text that cannot be a token. */
  checkToken: ({ body, now }, { tokens }) => {
    const { token } = body as BodyIn<typeof checkToken>;
    return /^[0-9a-f]{32}$/.test(token) ? answer(shown(tokens.check(token, now))) : parameterError('token');
  },
};

/** Sends the expiry under both names that the sources give it. */
function shown({ token, status, expiresAt }: ShownToken) {
  return { token, status, ...(expiresAt !== undefined && { expires_at: expiresAt, expires: expiresAt }) };
}

export const config: Behaviours = {
  getConfig: (_call, { hasTokenCheck }) => answer({ token_check_enabled: hasTokenCheck }),
};
