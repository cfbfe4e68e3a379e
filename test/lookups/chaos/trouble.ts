/** What goes wrong in a scenario, and how often. */

/** Each from 0, never, to 1, always. */
export interface Trouble {
  /** A call of a port rejects: one half before it had its effect, the other half after. */
  readonly fails: number;
  /** A call of a port never returns: again before its effect or after. */
  readonly hangs: number;
  /** A call of a port takes seconds, there or back. */
  readonly slow: number;
  /** Of several things given in one call the port says that it could not take this one, rightly or not. */
  readonly refusesOne: number;
  readonly busHangs: number;
  /** The gateway refuses: no trouble by itself, that is what waiting is for. */
  readonly gatewayRefuses: number;
  readonly gatewayHangs: number;
  /** A function dies with all that it had under way. */
  readonly dies: number;
  /** The queue gives a message to another function some seconds after the first, which may still have it. */
  readonly twice: number;
}

export const noTrouble: Trouble = {
  fails: 0,
  hangs: 0,
  slow: 0,
  refusesOne: 0,
  busHangs: 0,
  gatewayRefuses: 0.2,
  gatewayHangs: 0,
  dies: 0,
  twice: 0,
};

const storm = (much: number): Trouble => ({
  ...noTrouble,
  fails: 0.08 * much,
  hangs: 0.024 * much,
  slow: 0.05 * much,
  refusesOne: 0.05 * much,
  gatewayHangs: 0.02 * much,
  dies: 0.08 * much,
  twice: 0.05 * much,
});

export const troubles = {
  'no trouble': noTrouble,
  'a bus that hangs': { ...noTrouble, busHangs: 0.3 },
  'messages given to two at once': {
    ...noTrouble,
    fails: 0.08,
    slow: 0.3,
    gatewayRefuses: 0.5,
    gatewayHangs: 0.15,
    twice: 0.5,
  },
  'a light storm': storm(0.5),
  'a storm': storm(1),
  'a heavy storm': storm(2.5),
} satisfies Readonly<Record<string, Trouble>>;
