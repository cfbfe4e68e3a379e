/** What API Gateway itself refuses. The texts come from outside: this server has none of its own. */

export type RefusalCode =
  | 'missing_api_key'
  | 'throttled'
  | 'unknown_operation'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'gateway_error'
  | 'gateway_timeout';

export interface RefusalDetail {
  readonly requestId: string;
  readonly path: string;
  readonly method: string;
  /** With `method_not_allowed`: the methods that the path has. */
  readonly allow?: readonly string[];
  /** With `throttled`: whole seconds, at least 1. */
  readonly retryAfterSeconds?: number;
}

/** Makes the response; `allow` and `retry-after` are added to it where it does not set them. */
export type Refuse = (
  code: RefusalCode,
  detail: RefusalDetail,
) => { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
