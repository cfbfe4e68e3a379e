/** Schemas for members that the gateway itself writes: with a description, and for moments. */

import * as v from 'valibot';

/* @__NO_SIDE_EFFECTS__ */
export const described = <const S extends v.GenericSchema>(schema: S, text: string) =>
  v.pipe(schema, v.description(text));

export const moment = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'a moment in UTC'),
);
