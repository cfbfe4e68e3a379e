/** Stands in for SQS and EventBridge: keeps what is sent, and answers as a test wants. */

import { createServer } from 'node:http';
import type { TestContext } from 'vitest';
import { urlFor } from '../support/listening.ts';

export interface Sent {
  /** `SendMessage`, `PutEvents` … */
  readonly action: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AwsStub {
  readonly url: string;
  readonly sent: readonly Sent[];
}

/** A refusal by its name. */
export interface Refusal {
  readonly refused: string;
}

/** @param answer what to say, a status for a failure, or a refusal */
export async function startAwsStub(
  t: TestContext,
  answer: (sent: Sent, nth: number) => object | number | Refusal,
): Promise<AwsStub> {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
  });
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    const one = { action, body: JSON.parse(text) };
    sent.push(one);
    const said = answer(one, sent.length);
    const say = (status: number, text: object) =>
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(text));
    if (typeof said === 'number') say(said, { __type: 'InternalFailure', message: 'away' });
    else if ('refused' in said) say(400, { __type: said.refused, message: 'refused' });
    else say(200, said);
  });
  return { url: await urlFor(t, server), sent };
}
