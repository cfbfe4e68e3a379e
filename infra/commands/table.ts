/** Table of the commands of `countersign`, from which arguments, help and docs/command.md follow. */

import type { AnyCommand, CommandEntry, CommandGroup, Table } from './command.ts';

const local = () => import('./local-commands.ts');
const requests = () => import('./request-commands.ts');
const clients = () => import('./client-commands.ts');
const stages = () => import('./stage-commands.ts');

type Load<N extends string> = () => Promise<Readonly<Record<N, AnyCommand | CommandGroup>>>;

/**
 * @param needs what its commands need besides their arguments: the heading of the help
 * @returns a function that makes an entry from its phrase, and from a loader of the module that exports it under its name
 */
const needing =
  (needs: CommandEntry['needs']) =>
  <const N extends string>(says: string, load: Load<N>, name: N): CommandEntry => ({
    needs,
    says,
    load: async () => (await load())[name],
  });

const here = needing('On this machine alone');
const client = needing('With credentials of the broker or of a gateway');
const aws = needing('With AWS credentials, for a stage or a stack');
const cdk = needing('With AWS credentials and the CDK, for a stage');
const study = needing('Before you decide');

export const table: Table = {
  start: here('runs a gateway and a simulated upstream on this machine', local, 'start'),
  simulate: here('runs the simulated upstream alone', local, 'simulate'),
  openapi: here('writes the OpenAPI document', local, 'openapi'),
  sign: client('signs one request, without sending it', requests, 'sign'),
  explain: client('shows step by step how a request is signed', requests, 'explain'),
  verify: client('verifies a signed request, or test vectors', requests, 'verify'),
  call: client('calls one operation, through a gateway or signed here', clients, 'call'),
  watch: client('follows quotes as they change', clients, 'watch'),
  smoke: client('calls a deployment as a client would, and says what is wrong', stages, 'smoke'),
  preflight: aws('says how many phones a stage carries in your account', stages, 'preflight'),
  doctor: aws('looks at credentials, stack, secret and upstream, and says what is wrong', stages, 'doctor'),
  status: aws('shows a stack’s state in one look', stages, 'status'),
  secret: aws('puts app key and app secret into a stack’s secret', stages, 'secret'),
  token: aws('makes or renews the upstream’s access token', stages, 'token'),
  users: aws('says who may read and trade on which account', () => import('./users-command.ts'), 'users'),
  orders: aws('shows who ordered what', () => import('./orders-command.ts'), 'orders'),
  trading: aws('limits, stops and resumes trading', () => import('./trading-command.ts'), 'trading'),
  limits: aws('says which of the upstream’s limits a stack keeps', stages, 'limits'),
  deploy: cdk('deploys a stage', stages, 'deploy'),
  diff: cdk('shows what a deployment would change', stages, 'diff'),
  destroy: cdk('deletes a stage', stages, 'destroy'),
  cost: study('computes a month’s bill for your own figures', stages, 'cost'),
  prove: study(
    'deploys a small stage, measures it, reports, and deletes it: a first day on AWS',
    () => import('./prove/prove-command.ts'),
    'prove',
  ),
};
