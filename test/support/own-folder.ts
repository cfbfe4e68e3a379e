/** The CDK leaves what it writes in temporary folders: those of a file's tests are in one, and it goes with them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'countersign-stack-'));
process.env.TMPDIR = folder;

afterAll(() => rmSync(folder, { recursive: true, force: true }));
