/** Text that `countersign openapi` writes: the interface as a document for people, generators and tools. */

import { exposedOperations, openable, operations } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { localMode, usualMode } from '../access-modes.ts';
import { StartError } from '../environment.ts';
import type { JsonObject } from '../json.ts';
import type { DocumentOptions } from '../open-api/document.ts';
import { type DocumentForm, documentIn } from '../open-api/document-form.ts';
import { ConfigError } from '../stack/config.ts';
import { withStreams } from '../stack/live-config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { configOf } from '../stack/stages.ts';

export interface TextOptions extends DocumentForm {
  /** Address in place of the deployment's, which is known only after it is deployed. */
  readonly server?: string;
  /** Stage for whose callers the document is, or `local`. When absent, it is for a deployment that opens all groups. */
  readonly stage?: string;
}

/** @throws StartError for a stage whose configuration is wrong */
export function openApiText({ stage, server, ...form }: TextOptions): string {
  const target = targetOf(stage);
  const document = documentIn(form, {
    ...target,
    servers: server === undefined ? target.servers : [{ url: server }],
  });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

const offeredOperations = [...operations, ...liveOperations];

type DocumentTarget = Pick<DocumentOptions, 'operations' | 'servers' | 'access'>;

/** Chooses the operations. Without a stage they are all that a gateway can offer, with what a deployment asks of callers. */
function targetOf(stage: string | undefined): DocumentTarget {
  if (stage === undefined)
    return { operations: exposedOperations(offeredOperations, openable), servers: anyDeployment };
  if (stage === 'local')
    return {
      operations: exposedOperations(offeredOperations, openable),
      servers: [{ url: 'http://localhost:8787', description: 'The local run, where PORT is not set.' }],
      access: localMode,
    };
  try {
    const { access, domain, live } = resolveConfig(configOf(stage));
    const open = openable.filter((group) => access[group]);
    return {
      operations: exposedOperations(withStreams(operations, live), open),
      servers: domain ? [{ url: `https://${domain.name}` }] : anyDeployment.slice(1),
      access: (group) => access[group] ?? usualMode(group),
    };
  } catch (error) {
    if (error instanceof ConfigError) throw new StartError(error.message);
    throw error;
  }
}

/** Addresses of a deployment, in the two forms that the stack's output `ApiUrl` has. */
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
