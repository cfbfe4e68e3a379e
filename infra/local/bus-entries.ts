/** Parses JSON entries that a sender wants to put on the bus. */

import * as v from 'valibot';
import { faultOf } from '../../lib/catalogue/faults.ts';
import { faultWords } from '../../lib/catalogue/validation.ts';
import { reservedSources } from '../../lib/events/names.ts';
import { jsonFault } from '../../lib/kernel/json-fault.ts';
import { type Fault, faultsInWords } from '../../lib/problem.ts';
import type { LocalBusEntry } from './bus.ts';

const nameSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

/** Members of an event; other members of an envelope may stand beside them. */
const entrySchema = v.object({
  source: v.pipe(
    nameSchema,
    v.check((source) => !reservedSources.includes(source), 'the source of replies; name another'),
  ),
  'detail-type': nameSchema,
  detail: v.record(v.string(), v.unknown()),
  resources: v.optional(v.array(v.string())),
  time: v.optional(v.pipe(v.string(), v.isoTimestamp())),
});

/** EventBridge's maximum for one call. */
const entriesSchema = v.pipe(v.array(entrySchema), v.minLength(1), v.maxLength(10));

/** Entries, or the reason why there are none. */
type ReadEntries =
  | { readonly entries: readonly LocalBusEntry[] }
  | {
      readonly code: 'invalid_body' | 'payload_too_large';
      readonly detail: string;
      readonly errors?: readonly Fault[];
    };

/** EventBridge's limit, not included, for all entries of a call. */
const maxBytes = 256 * 1024;

const formHint = 'Send {"source":"…","detail-type":"…","detail":{…}}, or a list of such entries.';

/** @param text JSON: an entry, or a list of them, each in the form of an event or of PutEvents */
export function entriesOf(text: string): ReadEntries {
  const json = parseJson(text);
  if (json === undefined)
    return { code: 'invalid_body', detail: `The body is not valid JSON: ${jsonFault(text)}. ${formHint}` };
  const isList = Array.isArray(json);
  const parsed = v.safeParse(entriesSchema, [json].flat().map(asEvent));
  if (!parsed.success) {
    const errors = parsed.issues.map((issue): Fault => {
      const fault = faultOf(issue, faultWords);
      const name = isList ? fault.name : fault.name.replace(/^\/0/, '') || '/';
      return { in: 'body', ...fault, name };
    });
    return { code: 'invalid_body', detail: `${faultsInWords(errors)}. ${formHint}`, errors };
  }
  const entries = parsed.output.map(({ source, 'detail-type': detailType, detail, resources, time }) => ({
    source,
    detailType,
    detail: JSON.stringify(detail),
    ...(resources && { resources }),
    ...(time !== undefined && { time: Date.parse(time) }),
  }));
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes < maxBytes) return { entries };
  return {
    code: 'payload_too_large',
    detail: `The entries have ${bytes} bytes; a bus takes less than ${maxBytes} at once (source, detail-type, detail and resources).`,
  };
}

/** Size as EventBridge counts it: texts in UTF-8, and 14 bytes for a time. */
function sizeOf({ source, detailType, detail, resources = [], time }: LocalBusEntry): number {
  const texts = [source, detailType, detail, ...resources];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), time === undefined ? 0 : 14);
}

/** Converts an entry in the form of PutEvents, which `busEntry` of `countersign/events` makes, with the detail as a text. */
function asEvent(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('Source' in entry)) return entry;
  const { Source, DetailType, Detail, Resources } = entry as Readonly<Record<string, unknown>>;
  return {
    source: Source,
    'detail-type': DetailType,
    detail: typeof Detail === 'string' ? (parseJson(Detail) ?? Detail) : Detail,
    ...(Resources !== undefined && { resources: Resources }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
