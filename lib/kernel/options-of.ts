/**
 * Three interfaces of a part: its wiring, of which a composition names each member; options, of which a user of the package
 * gives what is required and may leave out the rest; seams, in whose place tests put their own.
 */
export type OptionsOf<Wiring, Required extends keyof Wiring> = Pick<Wiring, Required> &
  Partial<Omit<Wiring, Required>>;
