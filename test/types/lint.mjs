// What two linters of packages say of a tarball, as JSON: nothing, if all is well.
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';

const [, , tarball] = process.argv;
const bytes = readFileSync(tarball);
const { messages } = await publint({
  pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
  strict: true,
});
const { problems, entrypoints } = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
console.log(JSON.stringify({ messages, problems, entrypoints: Object.keys(entrypoints) }));
