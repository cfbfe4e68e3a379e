// Node, Deno and Bun: an uncaught error is the exit code of all three.
import { count, run } from '../.build/table.mjs';

const failures = await run();
if (failures.length > 0) throw new Error(failures.join('\n'));
console.log(`${count} checks passed`);
