/** openapi-generator's clients for TypeScript, Python and Go, each with its generator's own settings. */

import type { Generator } from '../generator.ts';
import { firstMissing, npmInstall, onPath, pipInstall, pythonVersionOf } from '../installs.ts';

const version = pythonVersionOf('openapi-generator-cli');
const documents = ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'] as const;
const missing = () => firstMissing(onPath('java'), pipInstall('openapi-generator-cli'));
const generate = (generator: string) => [
  `openapi-generator-cli generate -i openapi.json -g ${generator} -o client`,
];

export const openapiGeneratorTypescript: Generator = {
  name: 'openapi-generator typescript-fetch',
  version,
  language: 'TypeScript',
  example: 'test/clients/programs/openapi-generator-typescript',
  documents,
  missing: () => firstMissing(missing(), npmInstall('typescript')),
  generate: generate('typescript-fetch'),
  // Its imports have no file names: its users have a bundler.
  compile: ['npx tsc', 'npx esbuild main.ts --bundle --platform=node --format=esm --outfile=dist/main.js'],
  run: 'node dist/main.js',
};

export const openapiGeneratorPython: Generator = {
  name: 'openapi-generator python',
  version,
  language: 'Python',
  example: 'test/clients/programs/openapi-generator-python',
  documents,
  missing,
  generate: generate('python'),
  compile: ['MYPYPATH=client mypy main.py'],
  run: 'PYTHONPATH=client python3 main.py',
};

export const openapiGeneratorGo: Generator = {
  name: 'openapi-generator go',
  version,
  language: 'Go',
  example: 'test/clients/programs/openapi-generator-go',
  documents,
  missing: () => firstMissing(missing(), onPath('go')),
  generate: generate('go'),
  compile: ['go mod tidy', 'go build -o program .'],
  run: './program',
};
