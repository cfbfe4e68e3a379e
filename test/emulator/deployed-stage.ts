/** A stage for the tests of one `describe`, with the secret set. */

import { afterAll, beforeAll } from 'vitest';
import { signedByAws } from './aws-signature.ts';
import { commandEnvironment } from './deployment.ts';
import { grantEverything } from './operator.ts';
import { putSecret } from './secret.ts';
import { type Stage, type StageOptions, startStage } from './stage.ts';

interface DeployedOptions extends StageOptions {
  /** Functions can do what their roles say, and no more. */
  readonly enforced?: boolean;
  /** Those who sign with the emulator's access key may do everything. */
  readonly granted?: boolean;
  /** What else is done before the first test. */
  readonly prepare?: (stage: Stage) => unknown;
}

/** Commands of operators find the emulator, too. @returns the stage, which is there from the first test on */
export function deployedStage({
  enforced = false,
  granted = false,
  prepare = () => {},
  ...options
}: DeployedOptions): Stage {
  let stage: Stage | undefined;
  const before = { ...process.env };
  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    if (enforced) process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    const env = enforced ? { AUTH: 'true', USE_SSL: '1', ...options.env } : options.env;
    stage = await startStage({ ...options, ...(env && { env }) });
    Object.assign(process.env, commandEnvironment(stage.emulator));
    await putSecret(stage);
    if (granted) await grantEverything(stage);
    await prepare(stage);
  });
  afterAll(async () => {
    await stage?.stop();
    process.env = before;
  });
  return new Proxy({} as Stage, { get: (_, name) => Reflect.get(stage ?? {}, name) });
}

/** With a signature of AWS: GET, or POST of a body. */
export async function ask(
  stage: Pick<Stage, 'emulator' | 'url'>,
  path: string,
  body?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const init = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...more },
    ...(body !== undefined && { body }),
  };
  return fetch(`${stage.url}${path}`, { ...init, headers: await signedByAws(stage, path, init) });
}

/** The same, with what was answered. */
export async function answerOf(...asked: Parameters<typeof ask>) {
  const response = await ask(...asked);
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Readonly<Record<string, unknown>> };
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
