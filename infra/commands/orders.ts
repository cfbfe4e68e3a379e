/**
 * `countersign orders audit`: who ordered what, as lines of JSON. It reads the audit's table, the identity key, and the
 * directory, so that an operator sees accounts, orders and users where the table holds sealed bytes and keyed names.
 */

import { createDynamoOrderAudit } from '../../functions/aws/dynamo-order-audit.ts';
import type { AccessAdmin } from '../../lib/access/admin.ts';
import { subjectOf } from '../../lib/access/records.ts';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import { orderedLine, whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { defined } from '../defined.ts';
import { printError } from './print.ts';
import type { StackTarget } from './readers.ts';
import { asStartError, issuerOutput, sealedStack } from './sealed-stack.ts';
import { isCalled, subjectWords } from './users-words.ts';

export interface OrdersArguments {
  readonly target: StackTarget;
  readonly account?: string;
  readonly clientOrderId?: string;
  /** A user's subject, a key's id, a role's ARN, a source, or the name in a log line. */
  readonly user?: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** Those alone whose outcome is not known. */
  readonly unsettled: boolean;
  readonly json: boolean;
}

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
export async function deployedOrders({ target }: OrdersArguments): Promise<OrdersPorts> {
  const { stackName, outputs, store, identity, directory, say } = await sealedStack(
    target,
    orderAuditTableOutput,
    'has no audit of orders: open the group orders or watchlists',
  );
  const { sealer } = identity;
  return {
    stackName,
    audit: createDynamoOrderAudit({ ...store, sealer, timeoutMs: 10_000 }),
    directory: directory(),
    issuer: outputs.get(issuerOutput),
    clock: Date.now,
    say,
    warn: printError,
  };
}

/** @throws StartError in one sentence */
export async function showOrders(given: OrdersArguments, ports: OrdersPorts): Promise<void> {
  const { account, clientOrderId, since, unsettled } = given;
  try {
    const { nameOf, isUser } = await usersOf(given, ports);
    const { ordered, unreadable } = await whoOrderedWhat(
      // A change of this very millisecond, too.
      ports.audit.read(since, ports.clock() + 1),
      defined({ account, clientOrderId, user: isUser, unsettled }),
      nameOf,
    );
    // Lines of the audit hold orders byte for byte: nothing reads and writes them again.
    const lines = ordered.map(orderedLine);
    if (given.json) ports.say(`{"stack":${JSON.stringify(ports.stackName)},"orders":[${lines.join()}]}`);
    else for (const line of lines) ports.say(line);
    if (unreadable > 0)
      ports.warn(
        `Of ${unreadable} requests only states can be read: they were sealed under another identity key.`,
      );
  } catch (error) {
    throw asStartError(error, `The audit of orders of ${ports.stackName} cannot be read`);
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
  const known = records.filter((one) => isCalled(user, one)).map(({ name }) => name);
  const wanted = new Set([user, named, ...known]);
  return { nameOf, isUser: (name: string | undefined) => name !== undefined && wanted.has(name) };
}
