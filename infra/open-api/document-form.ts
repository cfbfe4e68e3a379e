/** Forms of the document that a reader can choose: the exact one and the one for generators, in two versions. */

import { isStream } from '../../lib/catalogue/operation.ts';
import type { JsonObject } from '../json.ts';
import { type DocumentOptions, type OpenApiVersion, openApiDocument } from './document.ts';
import { forGenerators } from './for-generators.ts';
import { forReference } from './for-reference.ts';

export interface DocumentForm {
  readonly version: OpenApiVersion;
  /** Leaves out what many generators of clients cannot read. */
  readonly generators?: true;
}

/** Choices of a reader, with their values in words. */
export const askedOfDocument = { for: 'generators', version: '3.1 or 3.0' } as const;

type AskedDocument = { readonly [name in keyof typeof askedOfDocument]?: string | undefined };

/** @returns undefined for an unknown reader or version */
export function documentForm({ for: reader, version: given }: AskedDocument): DocumentForm | undefined {
  if (reader !== undefined && reader !== 'generators') return undefined;
  // Many generators read only the older version, or read it better.
  const version = given ?? (reader ? '3.0' : '3.1');
  if (version !== '3.1' && version !== '3.0') return undefined;
  return { version, ...(reader && { generators: true }) };
}

export function documentIn(
  { version, generators }: DocumentForm,
  options: Omit<DocumentOptions, 'version'>,
): JsonObject {
  if (!generators) return openApiDocument({ ...options, version });
  // Streams are left out: a generated client would wait for the end of one.
  const operations = options.operations.filter((operation) => !isStream(operation));
  return forGenerators(openApiDocument({ ...options, operations, version }));
}

/** Document for the page of the local run, with example orders that its simulated upstream accepts. */
export const referenceOf = (options: DocumentOptions, isSimulated: boolean): JsonObject =>
  forReference(openApiDocument(options), { operations: options.operations, isSimulated });
