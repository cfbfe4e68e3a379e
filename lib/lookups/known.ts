/** Cuts the records that a refusal says are known out of its problem, without changing a byte of them. */

export interface KnownRecord {
  readonly ageMs: number;
  readonly bytes: Uint8Array;
}

const beginning = '"known":[';
const record = /,?\{"age":(\d+),"snapshot":/y;

/** By symbol; none when the problem has no such member. */
export function cutKnown(problem: Uint8Array): ReadonlyMap<string, KnownRecord> {
  const found = new Map<string, KnownRecord>();
  const text = new TextDecoder().decode(problem);
  const start = text.indexOf(beginning);
  if (start < 0) return found;
  for (let at = start + beginning.length; ; ) {
    record.lastIndex = at;
    const [head = '', age] = record.exec(text) ?? [];
    const end = head && endOfObject(text, at + head.length);
    if (!end) return found;
    const cut = text.slice(at + head.length, end);
    found.set((JSON.parse(cut) as { readonly symbol: string }).symbol, {
      ageMs: Number(age) * 1000,
      bytes: new TextEncoder().encode(cut),
    });
    at = end + 1;
  }
}

/** The index after the object that begins here. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}
