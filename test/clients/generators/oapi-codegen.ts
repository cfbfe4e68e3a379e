/** oapi-codegen makes one file of Go of the document; it is a tool of the example's module. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/bundle.ts';
import type { Generator } from '../generator.ts';
import { onPath } from '../installs.ts';

const mod = readFileSync(join(root, 'docs/examples/go/go.mod'), 'utf8');

export const oapiCodegen: Generator = {
  name: 'oapi-codegen',
  version: mod.match(/oapi-codegen\/v2 v(\S+)/)?.[1] ?? '',
  language: 'Go',
  example: 'go',
  documents: ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'],
  missing: () => onPath('go'),
  generate: [
    'mkdir -p gateway',
    'go tool oapi-codegen -generate types,client -package gateway -o gateway/gateway.go openapi.json',
  ],
  compile: ['go build -o orders .'],
  run: './orders',
};
