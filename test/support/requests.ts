/** Random requests: what a caller may hand to `sign`, beside the pairs and bytes that must arrive. */

import fc from 'fast-check';
import type { Field } from '../../infra/simulator/canonical.ts';
import type { SignInput } from '../../lib/signer/index.ts';

export interface RandomRequest {
  readonly input: SignInput;
  /** What must be signed and sent, decoded, in the order sent. */
  readonly query: readonly Field[];
}

/** Everything that has been got wrong somewhere: reserved characters, sorting traps, headers as names. */
const awkward = fc.constantFrom(
  'a',
  'a',
  'A',
  'b',
  '_',
  '',
  '😀',
  '～',
  'z',
  'ä',
  'host',
  'x-app-key',
  'x-signature-nonce',
  'x-timestamp',
  'x-zzz',
  '__proto__',
  ' ',
  '+',
  '%',
  '%25',
  '~',
  '*',
  "!'()",
  '&a=b',
  'a=b',
  'x&y',
  '/?#[]@$,;:',
  '\r\n\0',
);
const anyText = fc.oneof(
  { weight: 2, arbitrary: awkward },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
);

const path = fc
  .array(fc.string({ unit: fc.constantFrom(...'aZ09_-.~'), maxLength: 6 }), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const origin = fc.constantFrom(
  'https://api.example.com',
  'https://api.example.com:8443',
  'http://localhost:8788',
  'http://[::1]:80',
);
const body = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom('', '{}', '[]', ' ', '{"a": 1.10 }'),
  fc.json({ maxDepth: 2, stringUnit: 'binary' }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.dictionary(anyText, anyText, { maxKeys: 4 }),
);

/** The first `inUrl` pairs stand in the URL, some with `+` for a space, the rest in `query`. */
const requestOf = (text: fc.Arbitrary<string>) =>
  fc
    .record({
      origin,
      path,
      body,
      pairs: fc.array(fc.tuple(text, text), { maxLength: 6 }),
      inUrl: fc.nat(6),
      form: fc.boolean(),
    })
    .map(({ origin, path, body, pairs, inUrl, form }): RandomRequest => {
      const first = pairs.slice(0, inUrl);
      const search = form
        ? `${new URLSearchParams(first)}`
        : first.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      const input = {
        url: `${origin}${path}${search && `?${search}`}`,
        query: pairs.slice(inUrl),
        ...(body !== undefined && { body }),
      };
      return { input, query: pairs };
    });

export const anyRequest = requestOf(anyText);

/**
 * The algorithm joins without escaping, so two requests may sign alike when a text holds `&` or `=`, or a
 * name is that of a signing header. Without those, and only then, every change must be refused.
 */
export const unambiguousRequest = requestOf(
  anyText.map((text) => text.replace(/[&=]|^(host|x-app-key|x-signature.*|x-timestamp)$/gs, '.')),
);
