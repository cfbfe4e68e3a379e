/** Any free ports for all that a local run opens. One that is left out is the same for all tests that run at once. */
export const freePorts = {
  PORT: '0',
  UPSTREAM_PORT: '0',
  EVENTS_PORT: '0',
  MARKET_STREAM_PORT: '0',
} as const;
