/**
 * Checks the interface's body rules 1 and 3: compact JSON, and none of the escapes that an encoder makes of <, > and &.
 * The signature is checked apart, because a body can break these rules and still be correctly signed.
 */

import { parameterError, type Rejection } from './refusal.ts';

/** Refuses a body that breaks a rule, naming the rule; undefined for a valid or an empty one. */
export function checkBodyRules(body: Uint8Array): Rejection | undefined {
  if (body.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return parameterError('body: not UTF-8');
  }
  try {
    JSON.parse(text);
  } catch {
    return parameterError('body: not JSON');
  }
  return checkTokens(text);
}

/** Walks through valid JSON: white space may stand only inside strings, and the three escapes nowhere. */
function checkTokens(json: string): Rejection | undefined {
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at]!;
    if (!inString) {
      if (' \t\r\n'.includes(character)) return parameterError('body: white space between tokens');
      inString = character === '"';
    } else if (character === '"') {
      inString = false;
    } else if (character === '\\') {
      const sequence = json.slice(at, at + 6);
      if (/^\\u(003c|003e|0026)$/.test(sequence)) return parameterError(`body: ${sequence} is not reversed`);
      // Steps over the escaped character, so that an escaped backslash does not start an escape of its own.
      at++;
    }
  }
  return undefined;
}
