/**
 * `npm run orders -- audit`: who ordered what, as lines of JSON. It reads the audit's table, the identity key, and the
 * directory, so that an operator sees accounts, orders and users where the table holds sealed bytes and keyed names.
 */

import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoOrderAudit } from '../../functions/aws/dynamo-order-audit.ts';
import { type AccessAdmin, createAccessAdmin } from '../../lib/access/admin.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { isPrincipal, subjectOf } from '../../lib/access/records.ts';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import { orderedLine, whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { StartError } from '../environment.ts';
import { stackNameOf } from '../stack/stages.ts';
import type { OrdersArguments } from './orders-arguments.ts';
import { outputOf, outputsOf, stackSecret } from './stack-secret.ts';
import { accessTableOutput, identityKeyOutput, issuerOutput } from './users.ts';
import { subjectWords } from './users-words.ts';

export interface OrdersPorts {
  readonly stackName: string;
  readonly audit: Pick<OrderAuditStore, 'read'>;
  readonly directory: Pick<AccessAdmin, 'list' | 'nameOf'>;
  /** Of access tokens; undefined where the stack takes none. */
  readonly issuer: string | undefined;
  /** Now, in milliseconds since the epoch. */
  clock(): number;
  /** One line of JSON. */
  say(line: string): void;
  /** A sentence for the operator, apart from the lines. */
  warn(sentence: string): void;
}

/** The stack's output that names the audit's table. */
export const orderAuditTableOutput = 'OrderAuditTable';

/** @throws StartError when the stack or its identity key cannot be read, or it has no audit */
export async function deployedOrders({ stage }: OrdersArguments): Promise<OrdersPorts> {
  const stackName = stackNameOf(stage);
  const outputs = await outputsOf(stackName);
  if (!outputs.has(orderAuditTableOutput))
    throw new StartError(
      `The stack ${stackName} has no audit of orders: open the group orders or watchlists in the stage (docs/configuration.md, "groups"), and deploy it.`,
    );
  const key = await stackSecret(stackName, outputOf(stackName, outputs, identityKeyOutput)).read();
  if (!key) throw new StartError(`The identity key of ${stackName} is not set: deploy the stage once more.`);
  const identity = createIdentity(async () => key.text);
  const client = createDynamoClient();
  const tableName = (name: string) => outputOf(stackName, outputs, name);
  return {
    stackName,
    audit: createDynamoOrderAudit({
      client,
      tableName: tableName(orderAuditTableOutput),
      sealer: identity.sealer,
      timeoutMs: 10_000,
    }),
    directory: createAccessAdmin({
      store: createDynamoAccessStore({ client, tableName: tableName(accessTableOutput) }),
      identity,
      // It changes nothing.
      by: '',
    }),
    issuer: outputs.get(issuerOutput),
    clock: Date.now,
    say: (line) => console.log(line),
    warn: (sentence) => console.error(sentence),
  };
}

/** @throws StartError in one sentence */
export async function showOrders(given: OrdersArguments, ports: OrdersPorts): Promise<void> {
  const { account, clientOrderId, since } = given;
  try {
    const { nameOf, isUser } = await usersOf(given, ports);
    const { ordered, unreadable } = await whoOrderedWhat(
      // A change of this very millisecond, too.
      ports.audit.read(since, ports.clock() + 1),
      {
        ...(account !== undefined && { account }),
        ...(clientOrderId !== undefined && { clientOrderId }),
        ...(isUser && { user: isUser }),
      },
      nameOf,
    );
    for (const one of ordered) ports.say(orderedLine(one));
    if (unreadable > 0)
      ports.warn(
        `Of ${unreadable} requests only states can be read: they were sealed under another identity key.`,
      );
  } catch (error) {
    throw asStartError(error, ports.stackName);
  }
}

/** What the directory calls its users, and which of them is meant. */
async function usersOf({ user }: OrdersArguments, { directory, issuer }: OrdersPorts) {
  const { records } = await directory.list();
  const words = new Map(records.map(({ name, record }) => [name, subjectWords(subjectOf(record))]));
  const nameOf = (name: string) => words.get(name);
  if (user === undefined) return { nameOf };
  // A user who is no longer in the directory has ordered all the same.
  const named = issuer ? await directory.nameOf({ kind: 'user', issuer, subject: user }) : undefined;
  const known = records.flatMap(({ name, record }) => {
    const subject = subjectOf(record);
    return isPrincipal(subject) && subjectWords(subject) === `${subject.kind} ${user}` ? [name] : [];
  });
  const wanted = new Set([user, named, ...known]);
  return { nameOf, isUser: (name: string | undefined) => name !== undefined && wanted.has(name) };
}

const defects = [TypeError, ReferenceError, RangeError, SyntaxError];

/** Of an error of AWS its name alone: a service may repeat in the message what it was sent. */
function asStartError(error: unknown, stackName: string): unknown {
  if (error instanceof StartError) return error;
  if (!(error instanceof Error) || defects.some((one) => error instanceof one)) return error;
  const reason = error.name === 'Error' ? error.message : error.name;
  return new StartError(`The audit of orders of ${stackName} cannot be read: ${reason}.`);
}
