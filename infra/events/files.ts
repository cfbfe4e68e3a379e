/** The events' schemas as the files of the published package: `countersign/events/NAME.json`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventSchemas } from './schemas.ts';

/** @returns the paths of what is written */
export function writeEventSchemas(folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return Object.entries(eventSchemas()).map(([name, schema]) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, `${JSON.stringify(schema, undefined, 2)}\n`);
    return path;
  });
}
