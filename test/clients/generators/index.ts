/** The table of generators, in the order of docs/examples/README.md. */

import type { Generator } from '../generator.ts';
import { oapiCodegen } from './oapi-codegen.ts';
import { openapiFetch } from './openapi-fetch.ts';
import { openapiGenerator } from './openapi-generator.ts';
import {
  openapiGeneratorGo,
  openapiGeneratorPython,
  openapiGeneratorTypescript,
} from './openapi-generator-others.ts';
import { openapiPythonClient } from './openapi-python-client.ts';
import { openapiTs } from './openapi-ts.ts';
import { ownClient } from './own-client.ts';
import { swift } from './swift.ts';

export const generators: readonly Generator[] = [
  ownClient,
  openapiFetch,
  openapiTs,
  openapiGeneratorTypescript,
  openapiPythonClient,
  openapiGeneratorPython,
  oapiCodegen,
  openapiGeneratorGo,
  ...openapiGenerator,
  swift,
];
