/** openapi-generator's client for Swift, read by a parser: no package registry has a Swift compiler. */

import type { Generator } from '../generator.ts';
import { pipInstall, pythonVersionOf } from '../installs.ts';

export const swift: Generator = {
  name: 'openapi-generator swift6',
  version: pythonVersionOf('openapi-generator-cli'),
  language: 'Swift',
  example: 'swift',
  documents: ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'],
  missing: () => pipInstall('openapi-generator-cli'),
  generate: ['openapi-generator-cli generate -i openapi.json -o client -g swift6'],
  compile: ['swift build'],
  run: '.build/debug/Example',
  check: 'python ../../swift-check.py',
};
