/** Findings of `countersign doctor`. */

export interface Finding {
  readonly verdict: 'well' | 'fault' | 'unknown';
  /** A sentence, and what to do. */
  readonly words: string;
}

export const well = (words: string): Finding => ({ verdict: 'well', words });
export const fault = (words: string): Finding => ({ verdict: 'fault', words });
export const unknown = (words: string): Finding => ({ verdict: 'unknown', words });
