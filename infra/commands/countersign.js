#!/usr/bin/env node
/**
 * Entry point of every command: a clone runs the sources, the package their bundle. Old versions of Node must be able to
 * read this file, so that it can say that they are too old.
 */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);

async function load() {
  if (!existsSync(fileURLToPath(new URL('./main.ts', import.meta.url))))
    return import('../../dist/command/main.js');
  (await import('tsx/esm/api')).register();
  return import('./main.ts');
}

// Node has `import.meta.dirname` from 20.11 on.
if (major < 20 || (major === 20 && minor < 11)) {
  console.error(
    `Countersign needs Node 20.11 or later, and this is ${process.versions.node}: install a newer one.`,
  );
  process.exitCode = 1;
} else {
  // A reader that has enough, such as head, closes the pipe.
  process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1));
  load()
    .then(({ main }) => main(process.argv.slice(2)))
    .then((code) => {
      process.exitCode = code;
    });
}
