/** The interface's signature vectors, typed. No Node API: every runtime loads this module. */

import data from '../vectors/signature-vectors.json' with { type: 'json' };

export interface Vector {
  readonly name: string;
  readonly request: {
    readonly appKey: string;
    readonly appSecret: string;
    readonly nonce: string;
    readonly timestamp: string;
    readonly host: string;
    readonly path: string;
    readonly query: readonly (readonly [name: string, value: string])[];
    readonly body?: string;
  };
  readonly encodedString: string;
  readonly signature: string;
}

// Inferred from JSON, a pair is an array of any length.
export const vectors = data as unknown as readonly Vector[];

/** The one vector whose path has a character that is signed in one form and sent in another. */
export const isPlain = ({ request }: Vector) => /^[\w.~/-]+$/.test(request.path);

export const urlOf = ({ request: { host, path } }: Vector) => `https://${host}${path}`;

/** Vectors name no method: a body means POST. */
export const methodOf = ({ request }: Vector) => (request.body ? 'POST' : 'GET');
