/** As much of the Lambda Runtime API as one start of a function and one call of it need. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RuntimeApi {
  /** Host and port, as AWS_LAMBDA_RUNTIME_API has them. */
  readonly address: string;
  /** Settles when the function asks for its first event: it is initialised. Rejects when it says it failed. */
  readonly initialised: Promise<void>;
  /** Gives it the event and waits for its answer; the next event that it asks for never comes. */
  call(event: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** Ends the head of an answer that is a stream: the function has answered when it is there. */
const headEnd = '\0'.repeat(8);
const answerIn = (text: string): unknown => JSON.parse(text.split('\0', 1)[0] ?? '');

/** For one process: what a process that was ended has still in flight must not be taken for the next one's. */
export async function startRuntimeApi(): Promise<RuntimeApi> {
  let waiting: ServerResponse | undefined;
  let ready: (failure?: Error) => void = () => {};
  let answered: (answer: unknown, failure?: Error) => void = () => {};
  const initialised = new Promise<void>((resolve, reject) => {
    ready = (failure) => (failure ? reject(failure) : resolve());
  });

  const server = createServer(async (request, response) => {
    if (request.url?.endsWith('/invocation/next')) {
      waiting = response;
      ready();
      return;
    }
    let text = '';
    const isStreamed = () => text.includes(headEnd);
    try {
      for await (const chunk of request.setEncoding('utf8')) {
        text += chunk;
        if (isStreamed()) answered(answerIn(text));
      }
    } catch (error) {
      // The process was ended in the middle of its stream.
      if (!isStreamed()) throw error;
      return;
    }
    response.writeHead(202).end();
    if (request.url?.endsWith('/init/error')) ready(new Error(text));
    else if (request.url?.endsWith('/response')) answered(answerIn(text));
    else answered(undefined, new Error(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    initialised,
    call: (event) =>
      new Promise((resolve, reject) => {
        answered = (answer, failure) => (failure ? reject(failure) : resolve(answer));
        waiting
          ?.writeHead(200, {
            'content-type': 'application/json',
            'lambda-runtime-aws-request-id': 'bench-1',
            'lambda-runtime-deadline-ms': String(Date.now() + 20_000),
            'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:local:000000000000:function:bench',
          })
          .end(JSON.stringify(event));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
