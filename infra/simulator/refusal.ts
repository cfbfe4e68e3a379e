/** How the simulated upstream says no. */

export interface Refusal {
  readonly ok: false;
  /** HTTP status. */
  readonly status: number;
  /** The stable key; some are misspelt because the upstream's are. */
  readonly error_code: string;
  /** For people; not a stable key. */
  readonly message: string;
}

export function refuse(status: number, error_code: string, message: string): Refusal {
  return { ok: false, status, error_code, message };
}

/** A parameter that is missing, unknown or not accepted; `name` says which. */
export function parameterError(name: string): Refusal {
  return refuse(417, 'INVALID_PARAMETER', `Parameter error, ${name}`);
}
