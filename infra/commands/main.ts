/**
 * The commands behind package.json's scripts, each by its name. A mistake of the operator's is one line and an exit code,
 * and no stack. What a command needs is loaded when it runs: the CDK alone takes a second.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { StartError } from '../environment.ts';
import { ConfigError } from '../stack/schema-parts.ts';

type Command = (args: readonly string[]) => Promise<void>;

const root = join(import.meta.dirname, '../..');

/** What operators run. */
const commands: Readonly<Record<string, Command>> = {
  /** `npm run deploy -- [stage]`. */
  async deploy(args) {
    const { runCdk } = await import('./stage.ts');
    await runCdk('deploy', args);
  },

  /** `npm run destroy -- [stage]`. */
  async destroy(args) {
    const { runCdk } = await import('./stage.ts');
    await runCdk('destroy', args);
  },

  /** `npm run preflight -- [stage]`: 0 it carries the load, 1 it does not, 2 that is unknown. */
  async preflight(args) {
    const { preflight } = await import('./preflight.ts');
    const { carries, words } = await preflight(args);
    console.log(words);
    process.exitCode = carries === undefined ? 2 : carries ? 0 : 1;
  },

  /** `npm run secret:set -- [stage]`, with the secret as standard input. */
  async 'secret-set'(args) {
    const { setSecret, stackNameFrom, usableSecret, usage } = await import('./secret-set.ts');
    const stackName = stackNameFrom(args);
    if (process.stdin.isTTY) throw new StartError(usage);
    const ofToken = await setSecret(stackName, await usableSecret(await text(process.stdin)));
    console.log(
      `The secret of ${stackName} is set; functions use it within five minutes. ${ofToken}`.trimEnd(),
    );
  },

  /** `npm run smoke`. */
  async smoke(args) {
    const { smoke, smokeArguments } = await import('./smoke.ts');
    const { healthy, words } = await smoke(...smokeArguments(args, process.env));
    (healthy ? console.log : console.error)(words);
    process.exitCode = healthy ? 0 : 1;
  },

  /** `npm run limits -- [stage] [reset]`. */
  async limits(args) {
    const { limitsCommand } = await import('./limits.ts');
    console.log(await limitsCommand(args));
  },

  /** `npm run token -- [stage]`. */
  async token(args) {
    const { stackNameFrom } = await import('./secret-set.ts');
    const { deployedPorts, renewToken, usage } = await import('./token.ts');
    await renewToken(await deployedPorts(stackNameFrom(args, usage)));
  },

  /** `npm run users -- [stage] <command> …`. */
  async users(args) {
    const { usage, usersArguments } = await import('./users-arguments.ts');
    const { deployedUsers, manageUsers } = await import('./users.ts');
    const given = usersArguments(args);
    if (given) await manageUsers(given, await deployedUsers(given));
    else console.log(usage);
  },

  /** `npm run orders -- audit [stage] …`. */
  async orders(args) {
    const { ordersArguments, usage } = await import('./orders-arguments.ts');
    const { deployedOrders, showOrders } = await import('./orders.ts');
    const given = ordersArguments(args);
    if (given) await showOrders(given, await deployedOrders(given));
    else console.log(usage);
  },

  /** `npm run trading -- <command> [stage] …`. */
  async trading(args) {
    const { tradingArguments, usage } = await import('./trading-arguments.ts');
    const { deployedTrading, manageTrading } = await import('./trading.ts');
    const given = tradingArguments(args);
    if (given) await manageTrading(given, await deployedTrading(given));
    else console.log(usage);
  },

  /** `npm run openapi`. */
  async 'open-api'(args) {
    const { openApiArguments, openApiText } = await import('./open-api.ts');
    const { out, ...options } = openApiArguments(args);
    const document = openApiText(options);
    if (out === undefined) process.stdout.write(document);
    else writeFileSync(out, document);
  },

  /** `npm run docs`: what the documentation takes from the catalogue and from figures. */
  async docs() {
    const { operations } = await import('../../lib/catalogue/index.ts');
    const { operationsTable } = await import('./operations-table.ts');
    const { withCostTables } = await import('./cost-tables.ts');
    const page = (name: string) => join(root, 'docs', name);
    writeFileSync(page('operations.md'), operationsTable(operations));
    writeFileSync(page('cost.md'), withCostTables(readFileSync(page('cost.md'), 'utf8')));
    console.log('docs/operations.md and the tables of docs/cost.md are written.');
  },

  /** `npm run events`, the last step of `npm run build`. */
  async events() {
    const { writeEventSchemas } = await import('../events/schemas.ts');
    for (const path of writeEventSchemas(join(root, 'dist/events')))
      console.log(`${relative(root, path)} is written.`);
  },

  /** The step of `npm run build` after the compiler: marks for bundlers, and declarations with hover text. */
  async mark() {
    const { declareEntries } = await import('../package/entry-declarations.ts');
    const { markFolder } = await import('../package/pure-calls.ts');
    const catalogue = join(root, 'dist/lib/catalogue');
    markFolder(catalogue);
    declareEntries(catalogue);
  },
};

/** Where 1 is an answer, a mistake ends with another code. */
const mistakeCodes: Readonly<Record<string, number>> = { preflight: 2, smoke: 2 };

// The SDK's own switch (aws/aws-sdk-js-v3#7983): on Node 20 it tells the operator to upgrade at every call.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
const [name = '', ...args] = process.argv.slice(2);
try {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new StartError(`The commands are ${Object.keys(commands).join(', ')}.`);
  await command(args);
} catch (error) {
  if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = mistakeCodes[name] ?? 1;
}
