/**
 * `countersign orders audit`: prints who ordered what, as lines of JSON. It reads the audit's table, the identity key and
 * the directory, because the table itself holds sealed bytes and keyed names of accounts, orders and users.
 */

import { createDynamoOrderAudit } from '../../functions/aws/dynamo-order-audit.ts';
import type { AccessAdmin } from '../../lib/access/admin.ts';
import { subjectOf } from '../../lib/access/records.ts';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import { orderedLine, whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { defined } from '../defined.ts';
import { printError, type Report } from './print.ts';
import type { StackTarget } from './readers.ts';
import { inSentences, sealedStack } from './sealed-stack.ts';
import { isCalled, subjectWords } from './users-words.ts';

export interface OrdersArguments {
  readonly target: StackTarget;
  readonly account?: string;
  readonly clientOrderId?: string;
  /** A user's subject, a key's id, a role's ARN, a source, or the name in a log line. */
  readonly user?: string;
  /** Start of the period, in milliseconds since the epoch. */
  readonly since: number;
  /** Whether to show only requests whose outcome is not known. */
  readonly unsettled: boolean;
  readonly json: boolean;
}

export interface OrdersPorts {
  readonly stackName: string;
  readonly audit: Pick<OrderAuditStore, 'read'>;
  readonly directory: Pick<AccessAdmin, 'list' | 'nameOf'>;
  /** Issuer of access tokens; undefined if the stack accepts none. */
  readonly issuer: string | undefined;
  /** Returns the time now, in milliseconds since the epoch. */
  clock(): number;
  /** Prints a sentence for the operator, apart from the lines. */
  warn(sentence: string): void;
}

/** Stack output that names the audit's table. */
const orderAuditTableOutput = 'OrderAuditTable';

/** @throws StartError when the stack or its identity key cannot be read, or it has no audit */
export async function deployedOrders({ target }: OrdersArguments): Promise<OrdersPorts> {
  const stack = await sealedStack(
    target,
    orderAuditTableOutput,
    'has no audit of orders: open the group orders or watchlists',
  );
  const { sealer } = stack.identity;
  return {
    ...stack,
    audit: createDynamoOrderAudit({ ...stack.store, sealer, timeoutMs: 10_000 }),
    directory: stack.directory(),
    clock: Date.now,
    warn: printError,
  };
}

/** @throws StartError with one sentence */
export function showOrders(given: OrdersArguments, ports: OrdersPorts): Promise<Report> {
  const { account, clientOrderId, since, unsettled } = given;
  return inSentences(async () => {
    const { nameOf, isUser } = await usersOf(given, ports);
    const { ordered, unreadable } = await whoOrderedWhat(
      // Includes a change of this very millisecond.
      ports.audit.read(since, ports.clock() + 1),
      defined({ account, clientOrderId, user: isUser, unsettled }),
      nameOf,
    );
    // Prints the audit's lines as they are: parsing and writing them again could change an order's digits.
    const lines = ordered.map(orderedLine);
    if (unreadable > 0)
      ports.warn(
        `Of ${unreadable} requests only states can be read: they were sealed under another identity key.`,
      );
    return { lines, data: `{"stack":${JSON.stringify(ports.stackName)},"orders":[${lines.join()}]}` };
  }, `The audit of orders of ${ports.stackName} cannot be read`);
}

/** Looks up the directory's names of users, and which of them `--user` means. */
async function usersOf({ user }: OrdersArguments, { directory, issuer }: OrdersPorts) {
  const { records } = await directory.list();
  const words = new Map(records.map(({ name, record }) => [name, subjectWords(subjectOf(record))]));
  const nameOf = (name: string) => words.get(name);
  if (user === undefined) return { nameOf };
  // Someone who is no longer in the directory may still have ordered.
  const tokenName = issuer ? await directory.nameOf({ kind: 'user', issuer, subject: user }) : undefined;
  const known = records.filter((one) => isCalled(user, one)).map(({ name }) => name);
  const wantedNames = new Set([user, tokenName, ...known]);
  return { nameOf, isUser: (name: string | undefined) => name !== undefined && wantedNames.has(name) };
}
