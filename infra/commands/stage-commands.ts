/** Commands about one stage or stack. */

import { text } from 'node:stream/consumers';
import { StartError } from '../environment.ts';
import { command, flag, operand, operands, refuse, value } from './command.ts';
import { credentials, secrets } from './credentials.ts';
import { print, printError } from './print.ts';
import { deployed, json, stage, targetOf, urlIn, whole, wholeIn } from './readers.ts';

export const preflight = command({
  options: {
    stage,
    phones: value('<n>', 'phones (default: those that the largest plan is made for)', wholeIn(10_000_000)),
    every: whole('seconds between two requests of a phone', 3600, '5'),
    within: whole('seconds within which all of them start', 3600, '5'),
    json,
  },
  examples: ['--stage prod --phones 10000'],
  async run({ stage, phones, every, within }) {
    const { preflight } = await import('./preflight.ts');
    const wish = { everySeconds: every, withinSeconds: within, ...(phones !== undefined && { phones }) };
    const { carries = null, words } = await preflight(stage, wish);
    return { isWell: carries, lines: [words], data: { stage, carries, words } };
  },
});

const cdkOptions = operands('[options...]', 'options after --, which go to the CDK', (given) => given);

const cdkCommand = (verb: 'deploy' | 'diff' | 'destroy', ...more: readonly string[]) =>
  command({
    options: { stage, options: cdkOptions },
    examples: ['--stage prod', ...more],
    // `destroy prod`, once a valid form, would hand the word to the CDK and delete the default stage.
    check: (given) =>
      given.options[0]?.startsWith('-') === false
        ? refuse('Options follow the command, and nothing besides: a stage is --stage NAME.')
        : given,
    run: async (given) => (await import('./stage.ts')).runCdk(verb, given.stage, given.options),
  });

export const deploy = cdkCommand('deploy', '--stage prod -- --require-approval never');
export const diff = cdkCommand('diff');
export const destroy = cdkCommand('destroy', '--stage dev -- --force');

export const secret = command({
  options: deployed,
  examples: ['countersign secret --stage prod < secret.json'],
  more: 'Standard input is {"app_key": "…", "app_secret": "…"}, with an optional "access_token".',
  check: targetOf,
  async run({ stackName }) {
    if (process.stdin.isTTY)
      throw new StartError(
        'Standard input must be {"app_key": "…", "app_secret": "…"}: pipe it in, or give a file by <.',
      );
    const { setSecret, usableSecret } = await import('./secret-set.ts');
    const ofToken = await setSecret(stackName, await usableSecret(await text(process.stdin)));
    const line = `The secret of ${stackName} is set; functions use it within five minutes, or at once when the upstream refuses the one before. ${ofToken}`;
    return { lines: [line.trimEnd()] };
  },
});

export const token = command({
  options: { ...deployed, json },
  examples: ['--stage prod'],
  check: ({ json, ...given }) => ({ json, ...targetOf(given) }),
  async run({ stackName, json }) {
    const { deployedPorts, renewToken } = await import('./token.ts');
    const ports = await deployedPorts(stackName);
    const state = await renewToken(json ? { ...ports, say: printError } : ports);
    return { lines: [], data: { stack: stackName, ...state } };
  },
});

export const limits = command({
  options: { ...deployed, reset: flag('ends the tighter limits'), json },
  examples: ['--stage prod', '--stage prod --reset'],
  check: ({ reset, json, ...given }) => ({ reset, json, target: targetOf(given) }),
  run: async (given) => (await import('./limits.ts')).limitsCommand(given),
});

export const status = command({
  options: { ...deployed, watch: flag('looks again every half a minute, until you end it'), json },
  examples: ['--stage prod', '--stage prod --watch'],
  check: ({ watch, json, ...given }) => ({ watch, json, target: targetOf(given) }),
  async run({ target, ...given }) {
    const { deployedStatus, isWell, showStatus } = await import('./status.ts');
    return isWell(await showStatus(given, deployedStatus(target), print)) ? 0 : 1;
  },
});

export const cost = command({
  options: {
    stage,
    users: value('<n>', 'users of the stage', wholeIn(10_000_000)),
    interval: whole('seconds between two requests of a user', 86_400, '5'),
    hours: whole('hours a day', 24, '1'),
    days: whole('days a month', 31, '21'),
    json,
  },
  examples: ['--stage prod --users 10000 --interval 5'],
  check: ({ users = refuse('--users must say how many there are.'), ...given }) => ({ users, ...given }),
  async run({ json: _, ...given }) {
    const { billInWords, billOf } = await import('./bill.ts');
    const bill = await billOf(given);
    return { lines: [billInWords(given, bill)], data: bill };
  },
});

export const smoke = command({
  options: { url: operand('<url>', 'the stack’s output ApiUrl', urlIn), credentials, json },
  examples: ['API_KEY=… countersign smoke https://api.example.com'],
  more: 'API_KEY is the value of an API key of the stage.',
  async run({ url, credentials }) {
    const { API_KEY } = await secrets(credentials, ['API_KEY']);
    const { smoke } = await import('./smoke.ts');
    const { healthy, words } = await smoke(url, API_KEY);
    return { isWell: healthy, lines: [words], data: { healthy, words } };
  },
});

export const doctor = command({
  options: { ...deployed, json },
  examples: ['--stage prod', 'APP_KEY=… APP_SECRET=… UPSTREAM_BASE_URL=https://… countersign doctor'],
  more: 'Without --stage and --stack it looks at APP_KEY, APP_SECRET, UPSTREAM_BASE_URL and MARKET_STREAM_URL of the environment. It opens one connection of the market stream, which counts among the five of the app key until a minute after its end.',
  check: ({ json, ...given }) => ({
    json,
    target: given.stage === undefined && given.stack === undefined ? undefined : targetOf(given),
  }),
  async run({ target }) {
    const { examine } = await import('./doctor.ts');
    const findings = await examine(target);
    const isWell = findings.every(({ verdict }) => verdict === 'well');
    const lines = findings.map(({ verdict, words }) => `${verdict.padEnd(8)} ${words}`);
    return { isWell, lines, data: { well: isWell, findings } };
  },
});
