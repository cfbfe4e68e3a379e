/** Commands that run on this machine alone. */

import { writeFileSync } from 'node:fs';
import { documentForm } from '../open-api/document-form.ts';
import { command, refuse, value } from './command.ts';
import { json, stageIn, urlIn } from './readers.ts';

export const start = command({
  options: { json },
  examples: ['', 'UPSTREAM_FAULTS=drop=0.1 countersign start'],
  more: 'Variables configure it: PORT, API_KEY, OPEN_GROUPS, UPSTREAM_BASE_URL with APP_KEY and APP_SECRET, and those of\ndocs/configuration.md. Ctrl-C ends it.',
  run: async (given) => (await import('./start.ts')).start(given.json),
});

export const simulate = command({
  options: { json },
  examples: ['', 'UPSTREAM_PORT=9000 countersign simulate'],
  more: 'Variables configure it: UPSTREAM_PORT, EVENTS_PORT, MARKET_STREAM_PORT, MARKET_STREAM=off, UPSTREAM_LIMITS,\nUPSTREAM_FAULTS, APP_KEY with APP_SECRET. Ctrl-C ends it.',
  run: async (given) => (await import('./simulate.ts')).simulate(given.json),
});

export const openapi = command({
  options: {
    version: value('<version>', 'the version of OpenAPI, 3.1 or 3.0 (default: 3.1; 3.0 for generators)'),
    for: value('<reader>', 'generators: leaves out what many generators of clients cannot read'),
    stage: value(
      '<name>',
      'only what this stage of your configuration opens; local: what the local run opens',
      (text) => (text === 'local' ? text : stageIn(text)),
    ),
    server: value('<url>', 'the address of the deployment, which is known only once it is deployed', urlIn),
    out: value('<file>', 'the file to write, in place of standard output'),
  },
  examples: ['--stage prod --out openapi.json', '--for generators --server https://api.example.com'],
  check({ version, for: reader, ...given }) {
    const form = documentForm({ version, for: reader });
    if (!form) return refuse('--version takes 3.1 or 3.0, and --for takes generators.');
    return { ...given, form };
  },
  async run({ out, stage, server, form }) {
    const { openApiText } = await import('./open-api.ts');
    const document = openApiText({ ...form, ...(stage && { stage }), ...(server && { server }) });
    if (out === undefined) return { lines: [document.trimEnd()] };
    writeFileSync(out, document);
    return { lines: [] };
  },
});
