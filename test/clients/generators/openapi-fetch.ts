/** openapi-typescript makes types of the document; openapi-fetch calls by them. */

import type { Generator } from '../generator.ts';
import { npmInstall, versionOf } from '../installs.ts';

export const openapiFetch: Generator = {
  name: 'openapi-typescript, openapi-fetch',
  version: `${versionOf('openapi-typescript')}, ${versionOf('openapi-fetch')}`,
  language: 'TypeScript',
  example: 'typescript-openapi-fetch',
  documents: ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'],
  missing: () => npmInstall('openapi-typescript'),
  generate: ['npx openapi-typescript openapi.json --output schema.ts'],
  compile: ['npx tsc'],
  run: 'node dist/main.js',
};
