/** Countersign's library: signer, verifier, catalogue, client and gateway core. Runs wherever WebCrypto does. */

export * from './catalogue/index.ts';
export * from './client/index.ts';
export * from './events/index.ts';
export * from './gateway/index.ts';
export * from './lookups/index.ts';
export * from './signer/index.ts';
export * from './verifier/index.ts';
