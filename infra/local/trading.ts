/**
 * Limits and the kill switch of the local run, in memory. The key sets and shows them, as `countersign trading` does for a
 * deployment.
 */

import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { toGatewayRequest, toProxyResult } from '../../functions/events/rest-proxy.ts';
import type { Identity } from '../../lib/access/identity.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import { createControlAdmin } from '../../lib/guard-rails/admin.ts';
import type { ControlAdminStore } from '../../lib/guard-rails/control-admin-store.ts';
import {
  type ControlChange,
  ControlChangeError,
  type ControlSubject,
} from '../../lib/guard-rails/control-changes.ts';
import type { MassCancelStore } from '../../lib/guard-rails/mass-cancels.ts';
import type { LocalRoute } from './options.ts';

/** Begins with an underscore, unlike the paths of operations. */
export const tradingPath = '/_trading';

const scopeMembers = { account: v.optional(v.string()), user: v.optional(v.string()) };
const bodies = {
  limits: v.strictObject({
    ...scopeMembers,
    set: v.record(v.string(), v.unknown()),
    reason: v.optional(v.string()),
  }),
  stop: v.strictObject({ ...scopeMembers, reason: v.string(), cancel_open: v.optional(v.boolean()) }),
  resume: v.strictObject({ ...scopeMembers, reason: v.string() }),
};

interface LocalTradingOptions {
  readonly store: ControlAdminStore;
  readonly massCancels: Pick<MassCancelStore, 'open'>;
  readonly identity: Identity;
  /** Issuer of the run's tokens; known when it listens. */
  readonly issuer: () => string;
}

/**
 * @example
 * const store = createMemoryControls();
 * const routes = createTradingRoutes({ store, massCancels: store.massCancels, identity, issuer: () => `${url}/issuer` });
 */
export function createTradingRoutes(options: LocalTradingOptions): readonly LocalRoute[] {
  const { store, massCancels, identity, issuer } = options;
  const admin = createControlAdmin({ store, identity, by: 'the local run' });

  function subjectOf({ account, user }: TradingForm): ControlSubject {
    if (account !== undefined) return { kind: 'account', id: account };
    if (user !== undefined) return { kind: 'user', user: { kind: 'user', issuer: issuer(), subject: user } };
    return { kind: 'gateway' };
  }

  const state = async () => ({
    controls: await admin.list(),
    mass_cancels: (await massCancels.open()).map(({ scope, at }) => ({ scope, at })),
    history: await admin.history(20),
  });

  const changing =
    <Action extends keyof typeof bodies>(action: Action): LocalRoute['handler'] =>
    async (event: APIGatewayProxyEvent) => {
      const { requestId, headers } = await toGatewayRequest(event);
      const form = v.safeParse(bodies[action], jsonIn(event));
      const refuse = (detail: string) =>
        toProxyResult(refusalResponse({ code: 'invalid_body', detail }, requestId, headers.accept));
      if (!form.success) return refuse(`Send JSON such as ${examples[action]}.`);
      try {
        await admin.apply(changeOf(action, form.output, subjectOf(form.output)));
      } catch (error) {
        if (error instanceof ControlChangeError) return refuse(error.message);
        throw error;
      }
      return jsonAnswer(await state());
    };

  return [
    { method: 'GET', path: tradingPath, handler: async () => jsonAnswer(await state()), isOperators: true },
    ...(Object.keys(bodies) as (keyof typeof bodies)[]).map(
      (action): LocalRoute => ({
        method: 'POST',
        path: `${tradingPath}/${action}`,
        handler: changing(action),
        isOperators: true,
      }),
    ),
  ];
}

const examples: Readonly<Record<keyof typeof bodies, string>> = {
  limits: '{"set":{"max_order_notional":"5000","max_orders_per_minute":null},"account":"ACCOUNT_ID"}',
  stop: '{"reason":"a strategy runs wild","cancel_open":true}',
  resume: '{"reason":"the strategy is fixed"}',
};

type TradingForm = v.InferOutput<(typeof bodies)[keyof typeof bodies]>;

/** Makes the change from a form; limits are checked when it is applied. */
function changeOf(action: keyof typeof bodies, given: TradingForm, subject: ControlSubject): ControlChange {
  const { reason } = given;
  if ('set' in given)
    return { action: 'limits', subject, changes: given.set, ...(reason !== undefined && { reason }) };
  if (action === 'resume') return { action, subject, reason: reason ?? '' };
  const cancelOpen = 'cancel_open' in given && given.cancel_open === true;
  return { action: 'stop', subject, reason: reason ?? '', ...(cancelOpen && { cancelOpen }) };
}

/** @returns undefined for text that is no JSON */
export function jsonIn({ body, isBase64Encoded }: APIGatewayProxyEvent): unknown {
  try {
    return JSON.parse(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8').toString());
  } catch {
    return undefined;
  }
}

const jsonAnswer = (value: object) =>
  toProxyResult({
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
  });
