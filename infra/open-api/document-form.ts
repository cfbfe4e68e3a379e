/** The forms of the document that a reader can ask for: the exact one and the one for generators, in two versions. */

import { isStream } from '../../lib/catalogue/operation.ts';
import type { JsonObject } from '../json.ts';
import { type DocumentOptions, type OpenApiVersion, openApiDocument } from './document.ts';
import { forGenerators } from './for-generators.ts';
import { forReference } from './for-reference.ts';

export interface DocumentForm {
  readonly version: OpenApiVersion;
  /** For generators of clients: without what many of them cannot read. */
  readonly generators?: true;
}

/** What a reader asks for, with the values that there are, for people. */
export const askedOfDocument = { for: 'generators', version: '3.1 or 3.0' } as const;

type AskedDocument = { readonly [name in keyof typeof askedOfDocument]?: string | undefined };

/** @returns undefined for a reader or a version that there is not */
export function documentForm({ for: reader, version: given }: AskedDocument): DocumentForm | undefined {
  if (reader !== undefined && reader !== 'generators') return undefined;
  // Many generators read the older version alone, or better.
  const version = given ?? (reader ? '3.0' : '3.1');
  if (version !== '3.1' && version !== '3.0') return undefined;
  return { version, ...(reader && { generators: true }) };
}

export function documentIn(
  { version, generators }: DocumentForm,
  options: Omit<DocumentOptions, 'version'>,
): JsonObject {
  if (!generators) return openApiDocument({ ...options, version });
  // A generated client would wait for the end of a stream.
  const operations = options.operations.filter((operation) => !isStream(operation));
  return forGenerators(openApiDocument({ ...options, operations, version }));
}

/** For the page of the local run, with examples of orders that its simulated upstream takes. */
export const referenceOf = (options: DocumentOptions, isSimulated: boolean): JsonObject =>
  forReference(openApiDocument(options), { operations: options.operations, isSimulated });
