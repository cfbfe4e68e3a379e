/** `countersign prove`: its arguments, and the ports by which it deploys, asks and writes. */

import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '../../environment.ts';
import { configOf, stackNameOf } from '../../stack/stages.ts';
import { command, flag, refuse, value } from '../command.ts';
import { credentials, secrets } from '../credentials.ts';
import { printError } from '../print.ts';
import { stageIn, urlIn } from '../readers.ts';
import type { Proof } from './prove.ts';
import type { ProvePorts } from './prove-day.ts';

export const prove = command({
  options: {
    stage: value('<name>', 'a stage of your configuration that is not deployed', stageIn, 'prove'),
    sandbox: value(
      '<url>',
      'the stage’s upstream, where it is a broker’s sandbox: an order is placed there',
      urlIn,
    ),
    yes: flag('does not ask before it spends'),
    keep: flag('leaves the stage there'),
    out: value('<name>', 'the report’s name, without .md and .json', (text) => text, 'prove-report'),
    credentials,
  },
  examples: [
    'APP_KEY=… APP_SECRET=… countersign prove --stage prove',
    'countersign prove --sandbox https://api.example.com --yes --credentials - < secret.json',
  ],
  more: 'Deploys the stage, calls and measures it, deletes it, and writes a report. APP_KEY and APP_SECRET are the broker’s,\nACCESS_TOKEN where it wants one. TOKEN is that of a user, for groups that open with jwt. Without --sandbox no order\nis placed.',
  check({ sandbox, ...given }) {
    const upstream = configOf(given.stage).upstream?.baseUrl.replace(/\/+$/, '');
    if (sandbox !== undefined && sandbox !== upstream)
      return refuse(`--sandbox must be upstream.baseUrl of the stage ${given.stage}, which is another.`);
    if (given.credentials === '-' && !given.yes)
      return refuse('--credentials - needs --yes: a question could not be answered on standard input.');
    return { ...given, isSandbox: sandbox !== undefined };
  },
  async run({ stage, isSandbox, keep, yes, out, credentials }) {
    const { awsAccess } = await import('../aws.ts');
    // Fails early: without AWS credentials no other question is worth asking.
    await awsAccess();
    const keys = await secrets(credentials, ['APP_KEY', 'APP_SECRET']);
    const ports = await portsOf(stage, yes);
    const { prove } = await import('./prove.ts');
    const proof = await prove(
      {
        stage,
        config: configOf(stage),
        isSandbox,
        keep,
        appKey: keys.APP_KEY,
        appSecret: keys.APP_SECRET,
        accessToken: keys.ACCESS_TOKEN,
        token: keys.TOKEN,
      },
      ports,
    );
    if (!proof) throw new StartError('You have not agreed: nothing was deployed.');
    const { isProven } = await import('./prove-report.ts');
    const files = await writeReport(out, proof);
    const left = proof.report.left.map((one) => `Left: ${one}`);
    return {
      isWell: isProven(proof.report),
      lines: [`The report is in ${files.join(' and ')}.`, ...left],
    };
  },
});

/** Checks the CDK and the folder before the person is asked. */
async function portsOf(stage: string, yes: boolean): Promise<ProvePorts> {
  const { cdkProgram, checkFolder } = await import('../cdk-program.ts');
  const { runCdk } = await import('../stage.ts');
  const { outputsOf } = await import('../stack-secret.ts');
  cdkProgram('prove');
  checkFolder('prove');
  const interrupted = new AbortController();
  process.on('SIGINT', () => interrupted.abort());
  const cdk = async (verb: 'deploy' | 'destroy', ...more: readonly string[]) => {
    const code = await runCdk(verb, stage, more);
    if (code !== 0) throw new StartError(`The CDK ended ${verb} with ${code}; what it printed says why.`);
  };
  return {
    deploy: () => cdk('deploy', '--require-approval', 'never'),
    destroy: () => cdk('destroy', '--force'),
    outputs: () => outputsOf(stackNameOf(stage)),
    confirm: (question) => (yes ? Promise.resolve(true) : askPerson(question)),
    say: printError,
    clock: Date.now,
    pause: (ms) => pause(ms),
    interrupted: interrupted.signal,
  };
}

async function askPerson(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new StartError(
      'The command cannot ask you here: --yes says that it may deploy. Nothing was deployed.',
    );
  const line = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await line.question(`${question} Go on? [y/N] `)).trim());
  } finally {
    line.close();
  }
}

/** @returns the names of two files, one for people and one for programs */
export async function writeReport(out: string, { report, confidential }: Proof): Promise<readonly string[]> {
  const { proofInWords } = await import('./prove-words.ts');
  const texts = { md: proofInWords(report), json: `${JSON.stringify(report, undefined, 2)}\n` };
  return Object.entries(texts).map(([kind, text]) => {
    writeFileSync(`${out}.${kind}`, withhold(text, confidential));
    return `${out}.${kind}`;
  });
}

/** Replaces confidential text as a last guard; no step should have put any there. */
export const withhold = (text: string, confidential: readonly string[]): string =>
  confidential.filter(Boolean).reduce((rest, one) => rest.replaceAll(one, '(withheld)'), text);
