/**
 * The body of an upstream's refusal, in the four shapes that the live upstream was seen to send:
 *
 *     {error_code, message}                       trading
 *     {error_code, message, status}               market data
 *     {error_msg}                                 the server in front, of a path that it does not route
 *     {timestamp, status, error, message, path}   the server behind that one
 */

import type { UpstreamRefusal } from '../problem.ts';

/** A refusal is some hundred bytes; a longer body is not parsed, because the objects made of it could take a hundred times its size. */
const maxParsedBytes = 65_536;

/**
 * Code and message, as far as the body has them: it need not be JSON. Redacted before they are shortened: a cut
 * through a secret would leave a part that `redact` does not recognise.
 *
 * @param redact removes the gateway's secrets from a text
 */
export function readRefusalBody(
  body: Uint8Array,
  redact: (text: string) => string,
): Pick<UpstreamRefusal, 'errorCode' | 'message'> {
  if (body.length > maxParsedBytes) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return {};
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  const { error_code, message, error_msg, error } = parsed as Record<string, unknown>;
  const errorCode = isText(error_code) ? error_code : undefined;
  // `error` names the status in words, which is all that there is beside an empty message.
  const words = [message, error_msg, error].find(isText);
  return {
    ...(errorCode && { errorCode: redact(errorCode).slice(0, 100) }),
    ...(words && { message: redact(words).slice(0, 500) }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
