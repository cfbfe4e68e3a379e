/** The signature vectors of the event stream, typed. No Node API: every runtime loads this module. */

import data from '../vectors/event-signature-vectors.json' with { type: 'json' };

export interface EventVector {
  readonly name: string;
  readonly request: {
    readonly appKey: string;
    readonly appSecret: string;
    readonly nonce: string;
    readonly timestamp: string;
    /** The members of the request message. */
    readonly message: {
      readonly subscribeType: number;
      /** Unix time in milliseconds. */
      readonly timestamp: number;
      readonly contentType?: string;
      readonly payload?: string;
      readonly accounts: readonly string[];
    };
    /** The message as sent, in hexadecimal: the signature covers these bytes. */
    readonly serializedHex: string;
  };
  readonly encodedString: string;
  readonly signature: string;
}

export const eventVectors: readonly EventVector[] = data;
