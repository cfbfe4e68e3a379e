/**
 * How much fits into a Lambda function's answer. What counts is the answer as JSON: the body stands in it as
 * a text, with a backslash before each of its quotes.
 */

/** The largest answer of a synchronous call, in bytes of JSON. */
const lambdaLimit = 6_291_556;

/** Status, headers and punctuation around the body; ours take about one kilobyte. */
const envelope = 16_384;

/**
 * Whether Lambda can carry a body of these bytes. There is no way round by base64 for one that it cannot:
 * API Gateway would decode it only for an API that declares its answers binary, and JSON is none; every
 * other would hand the base64 to the client.
 */
export function fitsLambda(body: Uint8Array): boolean {
  const room = lambdaLimit - envelope;
  // JSON text has no control characters but white space, so escaping at most doubles it.
  if (body.byteLength * 2 <= room) return true;
  if (body.byteLength > room) return false;
  return (
    Buffer.byteLength(
      JSON.stringify(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')),
    ) <= room
  );
}
