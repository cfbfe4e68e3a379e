/**
 * `countersign prove`: a first day on AWS. Deploys a small stage, calls it, measures it, and deletes it again even after a
 * failure; one report has all results.
 */

import { atRest, fate, type Resource, resourcesOf } from '../../cost/deployment.ts';
import { StartError } from '../../environment.ts';
import { resolveConfig } from '../../stack/resolve-config.ts';
import { stackNameOf } from '../../stack/stages.ts';
import { awsAccess } from '../aws.ts';
import { examine } from '../doctor.ts';
import { preflight } from '../preflight.ts';
import type { StackTarget } from '../readers.ts';
import { type DeployedResource, deployedOf } from '../stack-resources.ts';
import { checkUpstream } from '../stage.ts';
import { callsOfEach } from './prove-calls.ts';
import { bringUp, type Day, measure, type ProveOptions, type ProvePorts } from './prove-day.ts';
import { stackStatus, startUpOf } from './prove-measure.ts';
import { compare, type ProofReport, priceOf } from './prove-report.ts';
import { createSteps, type Steps } from './prove-steps.ts';

export interface Proof {
  readonly report: ProofReport;
  /** Texts that must not be in a report: keys, tokens, account ids. */
  readonly confidential: readonly string[];
}

/**
 * @returns undefined when the person declines; nothing was deployed then
 * @throws StartError or ConfigError before anything is deployed
 */
export async function prove(options: ProveOptions, ports: ProvePorts): Promise<Proof | undefined> {
  const { stage, config, appKey, appSecret, accessToken = '', token = '' } = options;
  const target = { stackName: stackNameOf(stage), options: `--stage ${stage}` };
  const resources = resourcesOf(config);
  const steps = createSteps(ports.clock, ports.say, ports.interrupted);
  const region = await lookBefore(options, target, steps);
  if (!(await ports.confirm(questionOf(options, target, region, resources.length)))) return undefined;
  const day: Day = {
    options,
    config: resolveConfig(config),
    target,
    ports,
    steps,
    began: ports.clock(),
    confidential: [appKey, appSecret, accessToken, token],
    groups: [],
    outputs: new Map(),
    apiKey: '',
    runs: [],
    sums: {},
    requests: 0,
  };
  let left: readonly string[] = [];
  try {
    if (await bringUp(day)) await measure(day);
  } finally {
    left = await endStage(day, resources);
  }
  return { report: reportOf(day, region, atRest(resources).dollars, left), confidential: day.confidential };
}

/**
 * Finds what would make the day fail before it costs anything.
 *
 * @returns the Region
 */
async function lookBefore(
  { stage, config, ...keys }: ProveOptions,
  { stackName }: StackTarget,
  steps: Steps,
) {
  const { region } = await awsAccess();
  checkUpstream(stage);
  const status = await stackStatus(stackName);
  if (status !== undefined)
    throw new StartError(
      `The stack ${stackName} is there already (${status}), and prove deletes what it has tried: name another --stage, or delete it with countersign destroy --stage ${stage}.`,
    );
  const isWell = await steps.step('doctor', async () => {
    const findings = await examine(undefined, {
      APP_KEY: keys.appKey,
      APP_SECRET: keys.appSecret,
      ACCESS_TOKEN: keys.accessToken,
      UPSTREAM_BASE_URL: config.upstream.baseUrl,
    });
    const words = findings.map((one) => one.words).join(' ');
    return findings.some(({ verdict }) => verdict === 'fault') ? { fault: words } : words;
  });
  const isCarried =
    isWell &&
    (await steps.step('preflight', async () => {
      // One phone: this asks only whether the stage can be deployed.
      const { carries, words } = await preflight(stage, { phones: 1, everySeconds: 60, withinSeconds: 60 });
      return carries === false ? { fault: words } : (words.split('\n')[2] ?? words);
    }));
  if (!isCarried) throw new StartError('Nothing was deployed.');
  return region;
}

function questionOf(
  { config, isSandbox, keep }: ProveOptions,
  { stackName }: StackTarget,
  region: string,
  resources: number,
): string {
  const calls = Object.keys(resolveConfig(config).access).length * callsOfEach;
  return [
    `This deploys ${stackName} in ${region}, ${resources} resources;`,
    `sends about ${calls} reads and part of a minute’s limit to ${config.upstream.baseUrl};`,
    isSandbox ? 'places one order there, far below the market, and cancels it;' : 'places no order;',
    keep ? 'and leaves the stage there.' : 'and deletes the stage.',
    'It takes about a quarter of an hour, and costs some cents.',
  ].join(' ');
}

/** @returns what the account still has of the stage, by names without ARNs */
async function endStage(
  { options, target, steps, ports }: Day,
  resources: readonly Resource[],
): Promise<readonly string[]> {
  const { stackName } = target;
  const destroys = `\`countersign destroy ${target.options} -- --force\` deletes it`;
  if (options.keep) return [`The stack ${stackName}, as --keep asks: ${destroys}.`];
  const before = await deployedOf(stackName).catch((): readonly DeployedResource[] => []);
  // Without a stack the deployment did not begin, and there is nothing to delete.
  if ((await stackStatus(stackName).catch(() => 'unknown')) === undefined) return [];
  const isGone = await steps.step('destroy', async () => {
    await ports.destroy();
    return (await stackStatus(stackName)) === undefined
      ? `${stackName} is deleted.`
      : { fault: `${stackName} is still there.` };
  });
  if (isGone)
    return before.flatMap((one) => {
      const becomes = resources.filter(({ id }) => id === one.id).map(fate)[0] ?? 'deleted';
      return becomes === 'deleted' ? [] : [`${nameOf(one)}: ${becomes}`];
    });
  const left = await deployedOf(stackName).catch(() => before);
  return [
    `The stack ${stackName}: ${destroys}, and CloudFormation’s events say what keeps it.`,
    ...left.map(nameOf),
  ];
}

const nameOf = ({ type, physicalId }: DeployedResource) =>
  `${type.split('::').slice(1).join(' ')} ${physicalId.replace(/^arn:.*:/, '')}`;

function reportOf(day: Day, region: string, restMonth: number, left: readonly string[]): ProofReport {
  const { target, ports, began, runs, sums, groups, requests, version, limit, order, stream } = day;
  const minutes = Math.round((ports.clock() - began) / 6000) / 10;
  const startUp = startUpOf(runs);
  return {
    stack: target.stackName,
    version,
    region,
    began: new Date(began).toISOString(),
    minutes,
    steps: day.steps.all,
    groups,
    limit,
    order,
    stream,
    startUp,
    sums,
    price: priceOf({ requests, runs, sums, hours: minutes / 60, restMonth }),
    compared: compare(runs, startUp, groups, sums),
    left,
  };
}
