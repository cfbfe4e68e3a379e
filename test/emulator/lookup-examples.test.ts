/** The examples of docs/events.md, run as they are printed. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CreateArchiveCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { CreateStateMachineCommand, SFNClient, StartSyncExecutionCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, test } from 'vitest';
import { parseReply } from '../../lib/events/index.ts';
import { root } from '../support/bundle.ts';
import { whatIsMissing } from '../support/ministack.ts';
import { orSkip } from '../support/missing.ts';
import { deployedStage } from './deployed-stage.ts';
import { clientConfig, commandEnvironment } from './deployment.ts';
import { collectReplies, type Replies } from './replies.ts';

const run = promisify(execFile);
const bin = join(import.meta.dirname, '.venv/bin');
const missing = () => {
  const emulator = whatIsMissing();
  if (emulator || existsSync(join(bin, 'aws'))) return emulator;
  return 'The AWS CLI is missing: test/emulator/.venv/bin/pip install -r test/emulator/requirements.txt';
};

/** For queues the CLI looks for its endpoint in no variable. */
const prelude = 'aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }';

/** The only block of a file that has these words in it. */
function block(file: string, language: string, words: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))]
    .map(([, found = '']) => found)
    .filter((found) => found.includes(words));
  assert.equal(blocks.length, 1, words);
  return blocks[0]!;
}

describe('examples', orSkip(missing()), () => {
  let replies: Replies;
  let variables: Record<string, string>;
  const stage = deployedStage({
    props: { events: {} },
    async prepare() {
      replies = await collectReplies(stage);
      // LookupBus becomes LOOKUP_BUS, as docs/events.md says.
      const outputs = Object.entries(stage.outputs).map(([name, value]) => [
        name.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toUpperCase(),
        value,
      ]);
      variables = {
        ...Object.fromEntries(outputs),
        ...commandEnvironment(stage.emulator),
        PATH: [bin, '/usr/bin', '/bin'].join(delimiter),
        AWS_DEFAULT_REGION: stage.emulator.region,
        SCHEDULER_ROLE_ARN: 'arn:aws:iam::000000000000:role/scheduler',
      };
    },
  });

  const shell = async (script: string, more: Record<string, string> = {}) => {
    const { stdout } = await run('bash', ['-ec', `${prelude}\n${script}`], {
      env: { ...variables, ...more },
    });
    return stdout.trim() ? JSON.parse(stdout) : undefined;
  };
  const quotesOf = async (isOf: (id: string) => boolean, count = 1) => {
    const found = () => replies.events.filter(({ detail }) => isOf(detail.request_id));
    await replies.until(() => found().length >= count);
    const reply = parseReply(found().at(-1));
    assert.ok(reply?.detailType === 'QuoteLookupCompleted', JSON.stringify(found()));
    return reply.detail.quotes.map(({ symbol }) => symbol);
  };

  test('the AWS CLI, and a replay of what it sent', async () => {
    const bus = new EventBridgeClient(clientConfig(stage.emulator));
    // The emulator makes no archive of a template's.
    const { ArchiveArn = '' } = await bus.send(
      new CreateArchiveCommand({ ArchiveName: 'requests', EventSourceArn: variables.LOOKUP_BUS_ARN }),
    );
    const put = await shell(block('docs/events.md', 'sh', 'aws events put-events'));
    assert.equal(put.FailedEntryCount, 0);
    const isReport = (id: string) => id === 'report-17';
    assert.deepEqual(await quotesOf(isReport), ['AAPL', 'MSFT']);

    await shell(block('docs/events.md', 'sh', 'aws events start-replay'), {
      LOOKUP_ARCHIVE_ARN: ArchiveArn,
      FROM: new Date(Date.now() - 3_600_000).toISOString(),
      TO: new Date(Date.now() + 60_000).toISOString(),
    });
    await quotesOf(isReport, 2);
    const [first, second] = replies.of('report-17');
    assert.deepEqual(second?.detail, first?.detail);
  });

  test('EventBridge Scheduler', async () => {
    await shell(block('docs/events.md', 'sh', 'aws scheduler create-schedule'));
    const { Target } = await shell('aws scheduler get-schedule --name quotes-after-the-close');
    assert.equal(Target.Arn, stage.outputs.LookupQueueArn);
    // The test does not wait for the close, and the emulator does not fill in what AWS does.
    const id = randomUUID();
    const target = { ...Target, Input: Target.Input.replace('<aws.scheduler.execution-id>', id) };
    // Under another name: the emulator's ticker may have seen the first one meanwhile, and then never fires it.
    await shell(
      'aws scheduler create-schedule --name quotes-at-once --flexible-time-window Mode=OFF --schedule-expression "at(2026-01-01T00:00:00)" --target "$TARGET"',
      { TARGET: JSON.stringify(target) },
    );
    assert.deepEqual(await quotesOf((one) => one === `close-${id}`), ['AAPL', 'MSFT']);
  });

  test('a state of Step Functions', async () => {
    const state = block('docs/events.md', 'json', 'arn:aws:states:::lambda:invoke').replace(
      `\${LookupFunction}`,
      stage.outputs.LookupFunction ?? '',
    );
    const client = new SFNClient({ ...clientConfig(stage.emulator), disableHostPrefix: true });
    const { stateMachineArn } = await client.send(
      new CreateStateMachineCommand({
        name: 'report',
        type: 'EXPRESS',
        roleArn: 'arn:aws:iam::000000000000:role/report',
        definition: `{"StartAt":"Quotes","States":{"Quotes":${state}}}`,
      }),
    );
    const { status, output, cause } = await client.send(
      new StartSyncExecutionCommand({
        stateMachineArn,
        name: 'report-19',
        input: '{"symbols":["NVDA","NOSUCH"]}',
      }),
    );
    assert.equal(status, 'SUCCEEDED', cause);
    const { quotes, unknown } = JSON.parse(output ?? '{}');
    assert.deepEqual([quotes[0].symbol, unknown], ['NVDA', ['NOSUCH']]);
  });

  test('dead letters with their reason', async () => {
    const sqs = new SQSClient(clientConfig(stage.emulator));
    const { LookupQueueUrl: QueueUrl } = stage.outputs;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{"request_id":"typo-1"}' }));
    await replies.until(() => replies.of('typo-1').length > 0);
    const { Messages } = await shell(block('docs/events.md', 'sh', 'aws sqs receive-message'));
    assert.match(Messages[0].MessageAttributes.reason.StringValue, /^invalid_request: symbols: required/);
  });
});
