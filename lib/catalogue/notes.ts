/** Facts for callers that types and limits do not express, each with the source that it comes from. */

export interface Note {
  readonly text: string;
  readonly source: Source;
}

/**
 * Source of a fact, strongest first: the interface text wins every conflict. `observed`: others saw the live upstream do
 * it, and a page that says otherwise is wrong. `gateway`: the fact is about this gateway, not about the interface.
 */
export type Source = 'interface' | 'observed' | 'vendor-sdk' | 'vendor-docs' | 'inferred' | 'gateway';

/* @__NO_SIDE_EFFECTS__ */
export const inText = (text: string): Note => ({ text, source: 'interface' });

/* @__NO_SIDE_EFFECTS__ */
export const seen = (text: string): Note => ({ text, source: 'observed' });

/* @__NO_SIDE_EFFECTS__ */
export const onPage = (text: string): Note => ({ text, source: 'vendor-docs' });

/* @__NO_SIDE_EFFECTS__ */
export const inSdk = (text: string): Note => ({ text, source: 'vendor-sdk' });

/* @__NO_SIDE_EFFECTS__ */
export const inferred = (text: string): Note => ({ text, source: 'inferred' });
