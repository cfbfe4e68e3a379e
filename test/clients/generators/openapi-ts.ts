/** @hey-api/openapi-ts makes functions and types of the document, and a client over fetch. */

import type { Generator } from '../generator.ts';
import { npmInstall, versionOf } from '../installs.ts';

export const openapiTs: Generator = {
  name: '@hey-api/openapi-ts',
  version: versionOf('@hey-api/openapi-ts'),
  language: 'TypeScript',
  example: 'test/clients/programs/openapi-ts',
  documents: ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'],
  missing: () => npmInstall('@hey-api/openapi-ts'),
  generate: ['npx openapi-ts --input openapi.json --output client --no-log-file'],
  compile: ['npx tsc'],
  run: 'node dist/main.js',
};
