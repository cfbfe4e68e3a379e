/**
 * `countersign orders decide`: settles by an operator's word an order whose outcome stays unknown. It writes the journal
 * with the operator's own credentials; the audit has who decided what, when and why.
 */

import { createDynamoOrderJournal } from '../../functions/aws/dynamo-order-journal.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../lib/gateway/orders/reads.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import { type DecidedOrder, type DecisionParts, decideOrder } from '../../lib/orders/decide.ts';
import { orderJournalTableOutput } from '../stack/outputs.ts';
import { operatorArn } from './operator.ts';
import type { Report } from './print.ts';
import type { StackTarget } from './readers.ts';
import { inSentences, sealedStack } from './sealed-stack.ts';
import { secretOutput, stackSecret } from './stack-secret.ts';
import { upstreamOutput } from './token.ts';

export interface DecideArguments extends DecidedOrder {
  readonly target: StackTarget;
}

interface DecidePorts extends DecisionParts {
  readonly stackName: string;
}

/** @throws StartError when the stack, its identity key, or the operator's identity cannot be read */
export async function deployedDecision({ target }: Pick<DecideArguments, 'target'>): Promise<DecidePorts> {
  const { stackName, store, identity, output } = await sealedStack(
    target,
    orderJournalTableOutput,
    'has no journal of orders: open the group orders',
  );
  const { names, sealer } = identity;
  const secret = stackSecret(stackName, output(secretOutput));
  const gateway = createGateway({
    operations: orderReadOperations,
    upstreamBaseUrl: output(upstreamOutput),
    secrets: { read: async () => (await secret.read())?.text },
    access: 'single-user',
  });
  return {
    stackName,
    journal: createDynamoOrderJournal({ ...store, sealer, timeoutMs: 10_000 }),
    orders: createGatewayOrderReads({ gateway, maxWaitMs: 10_000 }),
    names,
    by: await operatorArn(),
    clock: Date.now,
    sleep,
  };
}

/** @throws StartError with one sentence; nothing was decided then */
export async function decide(given: DecideArguments, ports: DecidePorts): Promise<Report> {
  const { account, clientOrderId, decision } = given;
  const { isReleased, ended, saw } = await inSentences(
    () => decideOrder(ports, given),
    `The journal of ${ports.stackName} cannot be read or written`,
  );
  const what = clientOrderId ?? `What limits counted of account ${account} (orders: ${ended})`;
  const now = `${what} is ${decision} in ${ports.stackName} now; countersign orders audit has it, with the reason.`;
  return { lines: [...(saw ? [saw] : []), now, countedWords(decision, isReleased)] };
}

function countedWords(decision: DecideArguments['decision'], isReleased: boolean): string {
  if (decision === 'accepted') return 'It counts until the upstream shows its end.';
  if (!isReleased) return 'Limits count it until the next run of the settlement, or until it is ended again.';
  return decision === 'ended'
    ? 'Limits count nothing of it.'
    : 'Its id is free, and limits count nothing of it.';
}
