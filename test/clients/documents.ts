/** The documents that generators are given, as `countersign openapi` prints them for the local run. */

import { openApiText, type TextOptions } from '../../infra/commands/open-api.ts';

export const documents = {
  'for generators, 3.0': { version: '3.0', generators: true },
  'for generators, 3.1': { version: '3.1', generators: true },
  'exact, 3.0': { version: '3.0' },
  'exact, 3.1': { version: '3.1' },
  /** For a client that is made of the catalogue itself. */
  none: { version: '3.1' },
} as const satisfies Record<string, TextOptions>;

export type DocumentName = keyof typeof documents;

/** Those that every generator must read without a fault. */
export const isForGenerators = (name: DocumentName): boolean =>
  name === 'none' || 'generators' in documents[name];

const texts = new Map<DocumentName, string>();

/** Made once for all generators. */
export function documentText(name: DocumentName): string {
  const text = texts.get(name) ?? openApiText({ ...documents[name], stage: 'local' });
  texts.set(name, text);
  return text;
}
