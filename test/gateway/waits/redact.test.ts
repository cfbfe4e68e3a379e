/** A secret is found in an upstream's text in whatever form it stands there, and ordinary texts stay as they are. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { createRedactor } from '../../../lib/gateway/redact.ts';

const gap = '[redacted]';

/** Long enough that no part of six characters occurs by chance. */
const secretOf = (unit: fc.Arbitrary<string> | 'grapheme') =>
  fc.string({ unit, minLength: 12, maxLength: 48 }).filter((text) => text.trim() === text);
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const anySecret = fc.oneof(
  secretOf(fc.constantFrom(...letters)),
  secretOf(fc.constantFrom(...letters, ...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~ ')),
);

const bytes = (text: string) => Buffer.from(text, 'utf8');
const eachByte = (text: string, form: (hex: string) => string) =>
  [...bytes(text)].map((byte) => form(byte.toString(16).padStart(2, '0'))).join('');
const htmlEscapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const wholeForms: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'in lower case': (secret) => secret.toLowerCase(),
  'in mixed case': (secret) =>
    [...secret].map((c, i) => (i % 2 ? c.toUpperCase() : c.toLowerCase())).join(''),
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'percent-encoded as a form': (secret) => `${new URLSearchParams([['a', secret]])}`.slice(2),
  'percent-encoded in each character': (secret) => eachByte(secret, (hex) => `%${hex}`),
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'as a text of JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'as escapes of JSON': (secret) => eachByte(secret, (hex) => `\\u00${hex.toUpperCase()}`),
  'as escapes of a language': (secret) => eachByte(secret, (hex) => `\\x${hex}`),
  'as HTML': (secret) => secret.replace(/[&<>"']/g, (c) => htmlEscapes[c]!),
  'as numbers of HTML': (secret) => eachByte(secret, (hex) => `&#x${hex};`),
  'in hexadecimal': (secret) => eachByte(secret, (hex) => hex.toUpperCase()),
  'in hexadecimal with colons': (secret) => eachByte(secret, (hex) => `${hex}:`).slice(0, -1),
  'in base64': (secret) => bytes(secret).toString('base64'),
  'in base64 for URLs': (secret) => bytes(secret).toString('base64url'),
};

const around = fc.string({ unit: fc.constantFrom(...' .,;|'), maxLength: 20 });

describe('the secret', () => {
  for (const [name, form] of Object.entries(wholeForms))
    test(`${name}, anywhere in a text`, () => {
      fc.assert(
        fc.property(anySecret, around, around, (secret, before, after) => {
          const redacted = createRedactor([secret])(`${before}${form(secret)}${after}`);
          assert.equal(redacted.replace(/=+/, ''), `${before}${gap}${after}`);
        }),
      );
    });

  test('twice, one into the other', () => {
    const redact = createRedactor(['abcabcabcabc', 'bcabcabcxyz0']);
    assert.equal(redact('<abcabcabcabcabc>'), `<${gap}>`);
    assert.equal(redact('<abcabcabcabcxyz0>'), `<${gap}>`);
  });

  for (const lineBreak of ['\n', '\r\n', '\\n', '\\r\\n', '%0A', '%0D%0A'])
    test(`in base64 and hexadecimal of several lines, broken by ${JSON.stringify(lineBreak)}`, () => {
      fc.assert(
        fc.property(
          anySecret,
          fc.constantFrom('base64', 'base64url', 'hex'),
          fc.constantFrom(4, 10, 60, 64, 76),
          fc.nat(75),
          (secret, encoding, width, before) => {
            const whole = Buffer.from(`${'.'.repeat(before)}${secret}...`).toString(encoding as 'hex');
            const lines = whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
            const left = createRedactor([secret])(lines.join(lineBreak));
            const decoded = Buffer.from(left.replaceAll(lineBreak, ''), encoding as 'hex').toString('latin1');
            assert.ok(left.includes(gap), left);
            assert.ok(!decoded.includes(secret.slice(0, 4)), left);
          },
        ),
      );
    });

  test('in the middle of a longer base64 text, at any place in it, in either alphabet', () => {
    fc.assert(
      fc.property(
        anySecret,
        fc.uint8Array({ maxLength: 20 }),
        fc.uint8Array({ maxLength: 20 }),
        fc.constantFrom('base64', 'base64url'),
        (secret, before, after, alphabet) => {
          const whole = Buffer.concat([before, bytes(secret), after]).toString(alphabet as 'base64');
          const left = createRedactor([secret])(`token ${whole} is wrong`);
          assert.ok(left.includes(gap));
          // Whatever is left of it, decoded at any place, has no two neighbours of the secret.
          const known = new Set(
            Array.from({ length: secret.length - 3 }, (_, at) => secret.slice(at, at + 4)),
          );
          for (const part of left.slice(6, -9).split(gap))
            for (let from = 0; from < 4; from++) {
              const text = Buffer.from(part.slice(from), 'base64').toString('latin1');
              for (let at = 0; at + 4 <= text.length; at++) {
                const piece = text.slice(at, at + 4);
                const isOfNeighbours = [before, after].some((one) =>
                  Buffer.from(one).toString('latin1').includes(piece),
                );
                assert.ok(!known.has(piece) || isOfNeighbours, `${piece} is left of ${secret} in ${left}`);
              }
            }
        },
      ),
      { numRuns: 500 },
    );
  });
});

test('what has nothing to do with it stays as it is', () => {
  fc.assert(
    fc.property(anySecret, fc.string({ unit: 'grapheme', maxLength: 300 }), (secret, text) => {
      fc.pre(!text.toLowerCase().includes(secret.slice(0, 4).toLowerCase()));
      assert.equal(createRedactor([secret])(text), text);
    }),
  );
});

test('a short one is replaced as a word of its own only: in words and codes it is there by chance', () => {
  const redact = createRedactor(['k', 'key-1', '']);
  assert.equal(redact('kick of key-1, key-12 and k; a%6B'), `kick of ${gap}, key-12 and ${gap}; a%6B`);
});

test('a long hostile text is searched in reasonable time', () => {
  const redact = createRedactor(['%%%%\\\\\\\\&&&&0000    ', 'secret-secret-secret']);
  for (const piece of ['%25', '\\', '&#0', '0', 'secret-', '%', '\\u00', ' '])
    assert.equal(redact(piece.repeat(65_536 / piece.length)).length > 0, true);
});
