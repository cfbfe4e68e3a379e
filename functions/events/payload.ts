/**
 * The size of a Lambda function's answer. Lambda counts the answer as JSON, which contains the body as a string with
 * a backslash before each quotation mark.
 */

/** The largest answer of a synchronous call, in bytes of JSON. */
const lambdaLimit = 6_291_556;

/** For status, headers and punctuation, which take about one kilobyte. */
const envelope = 16_384;

/**
 * Whether Lambda can carry a body of these bytes. Base64 does not help: API Gateway decodes it only for an API that
 * declares its answers binary, which JSON is not; any other API would send the base64 to the client.
 *
 * @example
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets, canCarry: fitsLambda });
 */
export function fitsLambda(body: Uint8Array): boolean {
  const room = lambdaLimit - envelope;
  // JSON text has no control characters but white space, so escaping at most doubles it.
  if (body.byteLength * 2 <= room) return true;
  if (body.byteLength > room) return false;
  // Counted, not made: a copy with its backslashes would be twice as large as the body.
  let length = body.byteLength;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if (byte === 0x22 || byte === 0x5c || byte < 0x20) length++;
  }
  return length <= room;
}
