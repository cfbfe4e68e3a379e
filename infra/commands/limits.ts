/**
 * `countersign limits`: shows which limits a stage's functions keep. After the upstream's refusals the functions switch to
 * stricter limits; `--reset` ends those.
 */

import { DeleteItemCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { choicesFrom, limitsText, type UpstreamLimits } from '../../lib/catalogue/limits.ts';
import { stepsOf } from '../../lib/limiter/tightening.ts';
import { StartError } from '../environment.ts';
import type { Report } from './print.ts';
import type { StackTarget } from './readers.ts';
import { outputOf, outputsOf } from './stack-secret.ts';

/** Stack output that names the table's item with the limits. */
const limitsOutput = 'LimitsKey';

interface LimitsArguments {
  readonly target: StackTarget;
  readonly reset: boolean;
}

/**
 * @throws StartError when the stack or its table cannot be read or written
 */
export async function limitsCommand({ target, reset }: LimitsArguments): Promise<Report> {
  const { stackName } = target;
  const outputs = await outputsOf(stackName);
  const key = outputOf(stackName, outputs, limitsOutput);
  const request = {
    TableName: outputOf(stackName, outputs, 'BudgetTable'),
    Key: { pk: { S: key } },
  };
  const client = new DynamoDBClient();
  const fail = (error: Error) => {
    throw new StartError(`The table of ${stackName} cannot be used: ${error.name}.`);
  };
  const configured = key.slice(key.indexOf('#') + 1);
  const { Item } = await client.send(new GetItemCommand({ ...request, ConsistentRead: true })).catch(fail);
  const steps = stepsOf({ text: Item?.text?.S ?? '' });
  const kept = choiceAfter(configured, steps);
  const since = steps > 0 ? new Date(Number(Item?.written_at?.N ?? 0)).toISOString() : undefined;
  if (reset && steps > 0) await client.send(new DeleteItemCommand(request)).catch(fail);
  const data = { stack: stackName, configured, kept: reset ? configured : kept, since };
  const withData = (line: string) => ({ lines: [line], data });
  if (steps === 0) return withData(`${stackName} keeps upstream.limits as configured: ${configured}.`);
  if (reset)
    return withData(
      `${stackName} kept ${kept}; within half a minute its functions keep ${configured} again, as configured.`,
    );
  return withData(
    `${stackName} keeps ${kept} since ${since}, because the upstream answered 429 although ${configured} allowed the request. To keep these limits, set upstream.limits to them and deploy; if others used the app key and have stopped, end them with --reset.`,
  );
}

function choiceAfter(configured: string, steps: number): string {
  const choice = (configured.startsWith('{') ? JSON.parse(configured) : configured) as UpstreamLimits;
  const choices = choicesFrom(choice);
  return limitsText(choices[Math.min(steps, choices.length - 1)]!);
}
