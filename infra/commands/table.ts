/** Every command of `countersign`. Arguments, help and docs/command.md come from here. */

import type { Table } from './command.ts';

const local = () => import('./local-commands.ts');
const requests = () => import('./request-commands.ts');
const clients = () => import('./client-commands.ts');
const stages = () => import('./stage-commands.ts');

export const table: Table = {
  start: {
    says: 'runs a gateway and a simulated upstream on this machine',
    load: async () => (await local()).start,
  },
  simulate: { says: 'runs the simulated upstream alone', load: async () => (await local()).simulate },
  sign: { says: 'signs one request, without sending it', load: async () => (await requests()).sign },
  explain: {
    says: 'shows step by step how a request is signed',
    load: async () => (await requests()).explain,
  },
  verify: { says: 'verifies a signed request, or test vectors', load: async () => (await requests()).verify },
  call: {
    says: 'calls one operation, through a gateway or signed here',
    load: async () => (await clients()).call,
  },
  watch: { says: 'follows quotes as they change', load: async () => (await clients()).watch },
  openapi: { says: 'writes the OpenAPI document', load: async () => (await local()).openapi },
  preflight: {
    says: 'says how many phones a stage carries in your account',
    load: async () => (await stages()).preflight,
  },
  deploy: { says: 'deploys a stage', load: async () => (await stages()).deploy },
  diff: { says: 'shows what a deployment would change', load: async () => (await stages()).diff },
  smoke: {
    says: 'calls a deployment as a client would, and says what is wrong',
    load: async () => (await stages()).smoke,
  },
  doctor: {
    says: 'looks at credentials, stack, secret and upstream, and says what is wrong',
    load: async () => (await stages()).doctor,
  },
  secret: {
    says: 'puts app key and app secret into a stack’s secret',
    load: async () => (await stages()).secret,
  },
  token: { says: 'makes or renews the upstream’s access token', load: async () => (await stages()).token },
  users: {
    says: 'says who may read and trade on which account',
    load: async () => (await import('./users-command.ts')).users,
  },
  orders: { says: 'shows who ordered what', load: async () => (await import('./orders-command.ts')).orders },
  trading: {
    says: 'limits trading, stops it and resumes it',
    load: async () => (await import('./trading-command.ts')).trading,
  },
  limits: {
    says: 'says which of the upstream’s limits a stack keeps',
    load: async () => (await stages()).limits,
  },
  destroy: { says: 'deletes a stage', load: async () => (await stages()).destroy },
};
