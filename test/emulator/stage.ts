/** A whole deployment for a test: the real template and bundles in the emulator, before the simulator. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APIGatewayClient, GetApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import type { CountersignStackProps } from '../../infra/stack/stack.ts';
import { stackNameOf } from '../../infra/stack/stages.ts';
import { type Ministack, type MinistackOptions, startMinistack } from '../support/ministack.ts';
import { completeImport } from './complete-import.ts';
import { clientConfig, deploy, type Outputs } from './deployment.ts';
import { synthesised } from './synthesis.ts';

export const stageName = 'test';

/** What must appear nowhere but in the secret and in the simulator. */
export const canary = { appKey: 'canary-app-key-5f1d', appSecret: 'canary-app-secret-9c27' };

export const snapshots = '/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK';

type Props = Omit<CountersignStackProps, 'upstream'> & {
  readonly upstream?: Partial<CountersignStackProps['upstream']>;
};

export interface Stage {
  readonly simulator: Simulator;
  readonly emulator: Ministack;
  readonly outputs: Outputs;
  /** Where a client calls: the emulator's own form of a path with a stage. */
  readonly url: string;
  readonly restApiId: string;
  readonly apiKey: string;
  /** The deployed template, as text. */
  readonly template: string;
  /** With the API key unless `headers` says otherwise. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** Deploys again with other properties; the API body must not change, or the emulator makes a new API. */
  update(props: Props): Promise<void>;
  stop(): Promise<void>;
}

export interface StageOptions extends MinistackOptions {
  /** Of the stage. Default `test`. */
  readonly name?: string;
  readonly props?: Props;
  /** Requests that the simulator admits in a minute. */
  readonly upstreamLimit?: number;
  /** What goes wrong at the upstream, and which operations it does not know. */
  readonly fault?: SimulatorOptions['fault'];
  readonly unrouted?: SimulatorOptions['unrouted'];
  /** What else is told to the simulator. */
  readonly simulated?: Partial<SimulatorOptions>;
}

export async function startStage({
  name = stageName,
  props = {},
  upstreamLimit = 300,
  fault,
  unrouted,
  simulated = {},
  ...options
}: StageOptions = {}): Promise<Stage> {
  const simulator = await startSimulator({
    ...canary,
    limits: { 'market-data': { requests: upstreamLimit, perSeconds: 60 } },
    ...(fault && { fault }),
    ...(unrouted && { unrouted }),
    ...simulated,
  });
  const stackName = stackNameOf(name);
  const home = mkdtempSync(join(tmpdir(), 'countersign-assembly-'));
  let emulator: Ministack | undefined;
  const stop = async () => {
    await emulator?.stop();
    await simulator.close();
    rmSync(home, { recursive: true, force: true });
  };
  const synth = (more: Props) =>
    synthesised(home, stackName, {
      ...more,
      ...(more.tradeEvents && {
        tradeEvents: { endpoint: `127.0.0.1:${simulator.events.port}`, ...more.tradeEvents },
      }),
      upstream: { baseUrl: simulator.url, limits: 'interface', allowLoopback: true, ...more.upstream },
    });
  try {
    const assembly = await synth(props);
    emulator = await startMinistack(options);
    const running = emulator;
    const outputs = await deploy(running, assembly);
    const template = readFileSync(join(assembly.directory, `${stackName}.template.json`), 'utf8');
    const stageUrl = outputs.StageUrl ?? outputs.ApiUrl ?? '';
    const [, restApiId = ''] = /^https:\/\/([^.]+)\./.exec(stageUrl) ?? [];
    const body = bodyOf(template);
    await completeImport(running, { restApiId, stageName: 'v1', body });
    const url = `${running.endpoint}/restapis/${restApiId}/v1/_user_request_`;
    const { value: apiKey = '' } = outputs.ApiKeyId
      ? await new APIGatewayClient(clientConfig(running)).send(
          new GetApiKeyCommand({ apiKey: outputs.ApiKeyId, includeValue: true }),
        )
      : {};
    return {
      simulator,
      emulator: running,
      outputs,
      url,
      restApiId,
      apiKey,
      template,
      call: (path, init = {}) =>
        fetch(`${url}${path}`, { ...init, headers: { 'x-api-key': apiKey, ...init.headers } }),
      async update(more) {
        await deploy(running, await synth({ ...props, ...more }));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function bodyOf(template: string): unknown {
  const { Resources } = JSON.parse(template) as {
    Resources: Record<string, { readonly Type: string; readonly Properties: { readonly Body?: unknown } }>;
  };
  return Object.values(Resources).find(({ Type }) => Type === 'AWS::ApiGateway::RestApi')?.Properties.Body;
}
