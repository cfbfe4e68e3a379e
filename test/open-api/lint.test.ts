/** The documents as a strict linter sees them, and as OpenAPI's own JSON Schemas do. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { test } from 'vitest';
import { functionsOf } from '../../functions/rows.ts';
import { openApiText } from '../../infra/commands/open-api.ts';
import { apiDefinition } from '../../infra/stack/api-definition.ts';
import { exposed } from './support.ts';

const folder = join(import.meta.dirname, '.build');
const redocly = join(
  dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
  'bin/cli.js',
);

for (const [name, options] of [
  ['3.1', { version: '3.1' }],
  ['3.0', { version: '3.0' }],
  ['3.0 for generators', { version: '3.0', generators: true }],
] as const) {
  const text = openApiText(options);

  test(`OpenAPI ${name}: no errors and no warnings under the strict rules`, async () => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `openapi-${name.replaceAll(' ', '-')}.json`);
    writeFileSync(file, text);
    const args = [
      redocly,
      'lint',
      file,
      '--config',
      join(import.meta.dirname, 'redocly.yaml'),
      '--format',
      'json',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      // No check for updates, and no usage report.
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    }).catch((error: { stdout: string }) => error);
    const { totals, problems } = JSON.parse(stdout) as {
      readonly totals: { readonly errors: number; readonly warnings: number; readonly ignored: number };
      readonly problems: readonly { readonly ruleId: string; readonly message: string }[];
    };
    const found = problems.slice(0, 10).map(({ ruleId, message }) => `${ruleId}: ${message}`);
    assert.deepEqual({ ...totals, found }, { errors: 0, warnings: 0, ignored: 0, found: [] });
  });

  test(`OpenAPI ${name}: valid by the specification's own schema`, async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    assert.ok(valid, JSON.stringify(errors, undefined, 1));
  });
}

test('what API Gateway imports is valid OpenAPI 3.0', async () => {
  const groups = new Set(exposed.map(({ group }) => group));
  const definition = apiDefinition({
    title: 'Test',
    operations: exposed,
    access: Object.fromEntries([...groups].map((group) => [group, 'api-key'])),
    integrationUris: Object.fromEntries(
      [...groups].flatMap(functionsOf).map((name) => [name, `uri:${name}`]),
    ),
    origins: ['https://app.example.com', 'capacitor://localhost'],
    throttleRetryAfterSeconds: 1,
  });
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(definition)));
  assert.ok(valid, JSON.stringify(errors, undefined, 1));
});
