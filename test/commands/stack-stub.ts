/** Stands in for AWS: one stack's outputs, and its secret with versions and labels, over HTTP for the real clients. */

import { createServer } from 'node:http';
import type { TestContext } from 'vitest';
import { urlFor } from '../support/listening.ts';

export interface StackStub {
  /** Under which a command talks to it. */
  readonly env: Readonly<Record<string, string>>;
  /** The texts of the secret. */
  readonly current: string | undefined;
  readonly previous: string | undefined;
  /** Makes a text current, as another operator does. */
  set(text: string): void;
  /** How many times the secret was written to. */
  readonly writes: number;
  /** Of versions, those that a label can read. */
  readonly labels: Readonly<Record<string, string>>;
  /** What was deleted in the table of the limiter. */
  readonly deleted: readonly object[];
  /** Called before a label moves. */
  beforeMove: () => void;
}

const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:s';

export interface StackStubOptions {
  readonly secret?: string;
  /** What the stack's output says; without it there is no such output. */
  readonly upstream?: string;
  /** The same of the market stream. */
  readonly marketStream?: string;
  /** The steps that stand in the table of the limiter. */
  readonly steps?: number;
  /** Actions of Secrets Manager that are refused, with what they were sent in the message. */
  readonly denied?: readonly string[];
}

export async function startStackStub(t: TestContext, options: StackStubOptions = {}): Promise<StackStub> {
  const { secret, steps, denied = [] } = options;
  const versions = new Map<string, string>();
  const labels: Record<string, string> = {};
  let writes = 0;
  let item = steps && {
    text: { S: JSON.stringify({ version: 1, steps }) },
    written_at: { N: '1795000000000' },
  };
  const add = (text: string) => {
    const id = `00000000-0000-4000-8000-${String(versions.size).padStart(12, '0')}`;
    versions.set(id, text);
    return id;
  };
  const deleted: object[] = [];
  const promote = (id: string) => {
    if (labels.AWSCURRENT) labels.AWSPREVIOUS = labels.AWSCURRENT;
    labels.AWSCURRENT = id;
  };
  if (secret !== undefined) promote(add(secret));

  function act(action: string, input: Readonly<Record<string, unknown>>): readonly [number, object] {
    const refuse = (type: string): readonly [number, object] => [
      400,
      { __type: type, message: `no to ${JSON.stringify(input)}` },
    ];
    if (denied.includes(action)) return refuse('AccessDeniedException');
    if (action === 'GetItem') return [200, item ? { Item: item } : {}];
    if (action === 'DeleteItem') {
      deleted.push(input);
      item = undefined;
      return [200, {}];
    }
    if (action === 'GetSecretValue') {
      const id = labels.AWSCURRENT;
      if (id === undefined) return refuse('ResourceNotFoundException');
      return [200, { ARN: arn, SecretString: versions.get(id), VersionId: id }];
    }
    if (action === 'PutSecretValue') {
      writes++;
      const id = add(String(input.SecretString));
      const stages = (input.VersionStages as string[] | undefined) ?? ['AWSCURRENT'];
      for (const stage of stages)
        if (stage === 'AWSCURRENT') promote(id);
        else labels[stage] = id;
      return [200, { ARN: arn, VersionId: id }];
    }
    const { VersionStage: stage, MoveToVersionId: to, RemoveFromVersionId: from } = input;
    if (action !== 'UpdateSecretVersionStage' || typeof stage !== 'string') return refuse('Unknown');
    if (to) stub.beforeMove();
    if (labels[stage] !== undefined && labels[stage] !== from) return refuse('InvalidParameterException');
    if (!to) delete labels[stage];
    else if (stage === 'AWSCURRENT') promote(String(to));
    else labels[stage] = String(to);
    return [200, { ARN: arn }];
  }

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const target = request.headers['x-amz-target'];
    if (typeof target !== 'string')
      return void response.writeHead(200, { 'content-type': 'text/xml' }).end(stackOf(options));
    const [status, body] = act(target.split('.')[1] ?? '', JSON.parse(text));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  const url = await urlFor(t, server);
  const textOf = (label: string) => versions.get(labels[label] ?? '');
  const stub: StackStub = {
    env: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    get current() {
      return textOf('AWSCURRENT');
    },
    get previous() {
      return textOf('AWSPREVIOUS');
    },
    set: (text) => promote(add(text)),
    get writes() {
      return writes;
    },
    labels,
    deleted,
    beforeMove: () => {},
  };
  return stub;
}

function stackOf({ upstream, marketStream }: StackStubOptions): string {
  const output = (name: string, value: string) =>
    `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`;
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Countersign-test</StackName>
    <Outputs>${output('SecretArn', arn)}${output('BudgetTable', 'limiter')}
    ${output('LimitsKey', 'countersign.limits#interface')}${upstream ? output('UpstreamUrl', upstream) : ''}${marketStream ? output('MarketStreamUrl', marketStream) : ''}</Outputs>
    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}
