/** What `npm run openapi` writes: the interface as a document for people, generators and tools. */

import { parseArgs } from 'node:util';
import { exposedOperations, openable, operations } from '../../lib/catalogue/index.ts';
import { StartError } from '../environment.ts';
import type { JsonObject } from '../json.ts';
import { type OpenApiVersion, openApiDocument } from '../open-api/document.ts';

export interface OpenApiArguments {
  readonly version: OpenApiVersion;
  /** In place of the deployment's address, which is known after it only. */
  readonly server?: string;
  /** The file to write; standard output when absent. */
  readonly out?: string;
}

const usage =
  'Usage: npm run --silent openapi -- [--version 3.1|3.0] [--server https://…] [--out FILE] (3.1, to standard output)';

/** @throws StartError naming what there is */
export function openApiArguments(argv: readonly string[]): OpenApiArguments {
  const { version = '3.1', server, out } = valuesOf(argv);
  if (version !== '3.1' && version !== '3.0') throw new StartError(usage);
  if (server !== undefined && !/^https?:\/\/[^?#]+$/.test(server)) throw new StartError(usage);
  return {
    version,
    ...(server !== undefined && { server: server.replace(/\/+$/, '') }),
    ...(out !== undefined && { out }),
  };
}

function valuesOf(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: { version: { type: 'string' }, server: { type: 'string' }, out: { type: 'string' } },
    }).values;
  } catch {
    throw new StartError(usage);
  }
}

/** All that a gateway can offer, and what a deployment asks of callers; closed groups must be opened first. */
export function openApiText({ version, server }: Pick<OpenApiArguments, 'version' | 'server'>): string {
  const document = openApiDocument({
    version,
    operations: exposedOperations(operations, openable),
    servers: server === undefined ? anyDeployment : [{ url: server }],
  });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** In the two forms of a stack's output `ApiUrl`. */
const anyDeployment: readonly JsonObject[] = [
  {
    url: 'https://{domain}',
    description: 'A deployment with a domain; its output ApiUrl.',
    variables: { domain: { default: 'api.example.com' } },
  },
  {
    url: 'https://{api}.execute-api.{region}.amazonaws.com/{stage}',
    description: 'A deployment without one; its output ApiUrl.',
    variables: {
      api: { default: 'a1b2c3d4e5', description: 'The id of the REST API.' },
      region: { default: 'us-east-1' },
      stage: { default: 'v1' },
    },
  },
];
