/**
 * The last step of `.ci/run`: fails where the run took more of the processor, or longer, than test/ceilings.json allows.
 * No test does that, because a test would fail on a busy machine.
 *
 *     node --import tsx test/ceilings-main.ts PROCESSOR_SECONDS PART=SECONDS...
 */

import { timesOfCi } from './ceilings.ts';

const [processorSeconds, ...parts] = process.argv.slice(2);
const { lines, faults } = timesOfCi(
  Number(processorSeconds),
  Object.fromEntries(parts.map((part) => part.split('=')).map(([name, seconds]) => [name, Number(seconds)])),
);
for (const line of lines) console.log(line);
for (const fault of faults) console.log(`- failed: ${fault}`);
if (faults.length > 0) process.exitCode = 1;
