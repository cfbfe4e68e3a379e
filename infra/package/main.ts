/** Steps of `npm run build` and `npm run docs` besides the compiler, run by their names. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const page = (name: string) => join(root, 'docs', name);

const steps: Readonly<Record<string, () => Promise<void>>> = {
  /** Writes the docs' parts that come from the catalogue, from figures and from the table of commands. */
  async docs() {
    const { operations } = await import('../../lib/catalogue/index.ts');
    const { operationsTable } = await import('../documents/operations-table.ts');
    const { withCostTables, withTables } = await import('../cost/cost-tables.ts');
    const { alarmTableLines } = await import('../documents/alarm-tables.ts');
    const { fateLines, sizeLines } = await import('../documents/deployment-tables.ts');
    const { commandPage } = await import('../documents/command-page.ts');
    writeFileSync(page('operations.md'), operationsTable(operations));
    writeFileSync(page('cost.md'), withCostTables(readFileSync(page('cost.md'), 'utf8')));
    writeFileSync(page('command.md'), await commandPage());
    for (const [name, tables] of [
      ['deployment.md', [sizeLines()]],
      ['operation.md', [alarmTableLines(), fateLines()]],
    ] as const)
      writeFileSync(page(name), withTables(readFileSync(page(name), 'utf8'), tables));
    console.log(
      'docs/operations.md, docs/command.md and tables of docs/{cost,deployment,operation}.md are written.',
    );
  },

  async events() {
    const { writeEventSchemas } = await import('../events/schemas.ts');
    for (const path of writeEventSchemas(join(root, 'dist/events')))
      console.log(`${relative(root, path)} is written.`);
  },

  /** Runs after the compiler. */
  async finish() {
    const { finishPackage } = await import('./finish.ts');
    const { writeBundles } = await import('./bundles.ts');
    const { writeSignerPackage } = await import('./signer-package.ts');
    await finishPackage(root);
    await writeBundles(join(root, 'dist/bundles'));
    writeSignerPackage(root, join(root, 'dist/countersign-signer'));
  },

  /** Builds the page for a deployed gateway, and for the issuer at which its users sign in. */
  async page() {
    const { GATEWAY: gateway = '', ISSUER: issuer = '', CLIENT_ID: clientId = '' } = process.env;
    const folder = 'dist/page';
    if (!/^https?:\/\//.test(gateway)) throw new Error('Set GATEWAY to the address of the API.');
    const { writePage } = await import('../page-bundle.ts');
    await writePage(folder, { gateway, issuer, clientId });
    console.log(`${folder} has the page for ${gateway}: its cors.origins must name where you host it.`);
  },

  async command() {
    const { bundleCommand } = await import('./command-bundle.ts');
    await bundleCommand(join(root, 'dist/command'));
  },
};

for (const name of process.argv.slice(2)) {
  const step = steps[name];
  if (!step) throw new Error(`The steps are ${Object.keys(steps).join(', ')}.`);
  await step();
}
