/** Commands about one signed request. They load nothing but the signer. */

import { command, operand, refuse, value } from './command.ts';
import { credentials } from './credentials.ts';
import { json, oneOf, wholeIn } from './readers.ts';

const url = operand('<url>', 'the address in full, with its query', (text) =>
  /^https?:\/\//.test(text) && URL.canParse(text)
    ? text
    : refuse('must be a URL such as https://api.example.com/trading/accounts/list.'),
);
const request = {
  url,
  method: value('<name>', 'GET or POST (default: POST with a body)', oneOf('GET', 'POST')),
  body: value('<file>', 'a file with the body, which is signed as it is; - is standard input'),
};
const snapshot =
  "'https://api.example.com/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK'";

export const sign = command({
  options: { ...request, credentials, json },
  examples: [`APP_KEY=… APP_SECRET=… countersign sign ${snapshot}`],
  more: 'Prints the request line and the headers that go with it. Send them once, and soon.',
  run: async (given) => (await import('./requests.ts')).signRequest(given),
});

export const explain = command({
  options: {
    ...request,
    nonce: value('<text>', 'the x-signature-nonce that was sent (default: a new one)'),
    timestamp: value('<time>', 'the x-timestamp that was sent (default: now)'),
    compare: value('<file>', 'another implementation’s text to sign, to show where it differs'),
    credentials,
    json,
  },
  examples: [`APP_KEY=… countersign explain ${snapshot}`],
  more: 'Needs the app key alone: every step but the last is without the secret, which is never shown.',
  run: async (given) => (await import('./requests.ts')).explainRequest(given),
});

export const verify = command({
  options: {
    request: value('<file>', 'a signed request, as countersign sign --json prints it; - is standard input'),
    vectors: value('<file>', 'test vectors with their secrets, in place of a request'),
    tolerance: value('<seconds>', 'allowed difference of the clocks (default: 300)', wholeIn(1_000_000_000)),
    credentials,
    json,
  },
  examples: [
    'APP_KEY=… APP_SECRET=… countersign verify --request request.json',
    '--vectors test/vectors/signature-vectors.json',
  ],
  check({ request, vectors, ...given }) {
    if (vectors !== undefined && request === undefined) return { ...given, vectors };
    if (vectors !== undefined || request === undefined) return refuse('verify takes --request or --vectors.');
    return request === '-' && given.credentials === '-'
      ? refuse('--request and --credentials cannot both be standard input.')
      : { ...given, request };
  },
  async run(given) {
    const { verifyRequest, verifyVectors } = await import('./requests.ts');
    return 'vectors' in given ? verifyVectors(given) : verifyRequest(given);
  },
});
