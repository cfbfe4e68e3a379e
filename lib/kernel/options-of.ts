/**
 * Makes a part's options from its wiring. A part has three interfaces: its wiring, with every member that a composition must
 * name; its options, where a user of the package may leave out all members but the required ones; and seams, which tests
 * replace.
 */
export type OptionsOf<Wiring, Required extends keyof Wiring> = Pick<Wiring, Required> &
  Partial<Omit<Wiring, Required>>;
