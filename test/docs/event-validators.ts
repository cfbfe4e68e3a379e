/** The published schemas of the events, as a consumer uses them, and how to spoil what they accept. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { writeEventSchemas } from '../../infra/events/schemas.ts';

/** The files of the package by their names, each as it is read. */
export function publishedSchemas(): Readonly<Record<string, object>> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-events-'));
  try {
    return Object.fromEntries(
      writeEventSchemas(folder).map((path) => [basename(path), JSON.parse(readFileSync(path, 'utf8'))]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** By the event's name: whether a detail is one. */
export type Validators = Readonly<Record<string, (detail: unknown) => boolean>>;

export function eventValidators(): Validators {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
  // What generators read, and the forms of texts, which have patterns besides.
  ajv.addKeyword('x-extensible-enum');
  for (const format of ['decimal', 'int64', 'date', 'date-time', 'uri']) ajv.addFormat(format, true);
  return Object.fromEntries(
    Object.entries(publishedSchemas()).map(([file, schema]) => {
      const validate = ajv.compile(schema);
      return [file.replace(/\.json$/, ''), (detail: unknown) => validate(detail)] as const;
    }),
  );
}

type Members = Readonly<Record<string, unknown>>;

/** Members that may be anything at all. */
const free = new Set(['answer', 'body']);

/**
 * Each wrong in one way: a required member is missing, a member has another type, and in a request there is
 * one that is unknown.
 */
export function mutated(detail: Members, isRequest: boolean): readonly Members[] {
  const names = Object.keys(detail).filter((name) => detail[name] !== undefined && !free.has(name));
  const optional =
    /^(deadline|deadline_seconds|max_age_seconds|extend_hour_required|overnight_required|errors|upstream|query|operation|text|requester)$/;
  return [
    ...names.filter((name) => !optional.test(name)).map((name) => ({ ...detail, [name]: undefined })),
    ...names.map((name) => ({ ...detail, [name]: otherType(detail[name]) })),
    ...(isRequest ? [{ ...detail, unheard_of: 1 }] : []),
    ...('request_id' in detail ? [{ ...detail, request_id: ' ' }] : []),
  ].map((one) => JSON.parse(JSON.stringify(one)) as Members);
}

const otherType = (value: unknown) => (typeof value === 'string' ? 1 : Array.isArray(value) ? 'text' : [1]);
