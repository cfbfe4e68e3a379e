/** Table of the commands of `countersign`, from which arguments, help and docs/command.md follow. */

import type { AnyCommand, CommandEntry, CommandGroup, Table } from './command.ts';

const local = () => import('./local-commands.ts');
const requests = () => import('./request-commands.ts');
const clients = () => import('./client-commands.ts');
const stages = () => import('./stage-commands.ts');

/** @param load loads the module that exports the command under its name */
function entry<const N extends string>(
  says: string,
  load: () => Promise<Readonly<Record<N, AnyCommand | CommandGroup>>>,
  name: N,
): CommandEntry {
  return { says, load: async () => (await load())[name] };
}

export const table: Table = {
  start: entry('runs a gateway and a simulated upstream on this machine', local, 'start'),
  simulate: entry('runs the simulated upstream alone', local, 'simulate'),
  sign: entry('signs one request, without sending it', requests, 'sign'),
  explain: entry('shows step by step how a request is signed', requests, 'explain'),
  verify: entry('verifies a signed request, or test vectors', requests, 'verify'),
  call: entry('calls one operation, through a gateway or signed here', clients, 'call'),
  watch: entry('follows quotes as they change', clients, 'watch'),
  openapi: entry('writes the OpenAPI document', local, 'openapi'),
  preflight: entry('says how many phones a stage carries in your account', stages, 'preflight'),
  deploy: entry('deploys a stage', stages, 'deploy'),
  diff: entry('shows what a deployment would change', stages, 'diff'),
  smoke: entry('calls a deployment as a client would, and says what is wrong', stages, 'smoke'),
  doctor: entry('looks at credentials, stack, secret and upstream, and says what is wrong', stages, 'doctor'),
  status: entry('shows a stack’s state in one look', stages, 'status'),
  cost: entry('computes a month’s bill for your own figures', stages, 'cost'),
  secret: entry('puts app key and app secret into a stack’s secret', stages, 'secret'),
  token: entry('makes or renews the upstream’s access token', stages, 'token'),
  users: entry('says who may read and trade on which account', () => import('./users-command.ts'), 'users'),
  orders: entry('shows who ordered what', () => import('./orders-command.ts'), 'orders'),
  trading: entry('limits, stops and resumes trading', () => import('./trading-command.ts'), 'trading'),
  limits: entry('says which of the upstream’s limits a stack keeps', stages, 'limits'),
  prove: entry(
    'deploys a small stage, measures it, reports, and deletes it: a first day on AWS',
    () => import('./prove/prove-command.ts'),
    'prove',
  ),
  destroy: entry('deletes a stage', stages, 'destroy'),
};
