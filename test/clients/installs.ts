/** Where generators, compilers and libraries come from, and how to get what is missing. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const here = import.meta.dirname;
const npmModules = join(here, 'node_modules');
const venv = join(here, '.venv');

/** A tool of this folder stands before one of the machine. */
export const path = [join(npmModules, '.bin'), join(venv, 'bin'), process.env.PATH].join(delimiter);

/** Of an npm package in package.json. */
export const versionOf = (name: string): string => {
  const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  return dependencies[name] ?? '';
};

/** Of a Python package in requirements.txt. */
export const pythonVersionOf = (name: string): string =>
  readFileSync(join(here, 'requirements.txt'), 'utf8').match(new RegExp(`^${name}==(\\S+)$`, 'm'))?.[1] ?? '';

/** What is missing of the npm packages. */
export const npmInstall = (name: string): string | undefined =>
  existsSync(join(npmModules, name)) ? undefined : `${name} is missing: npm ci --prefix test/clients`;

/** What is missing of the Python packages, by a tool of theirs. */
export const pipInstall = (tool: string): string | undefined =>
  existsSync(join(venv, 'bin', tool))
    ? undefined
    : `${tool} is missing: python3 -m venv test/clients/.venv && test/clients/.venv/bin/pip install -r test/clients/requirements.txt`;

/** How to get the machine's own tools. */
const ways = {
  curl: 'apt-get install curl',
  go: 'https://go.dev/dl',
  java: 'apt-get install default-jdk-headless',
  mvn: 'apt-get install maven',
};

/** What is missing of them. */
export function onPath(tool: keyof typeof ways): string | undefined {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `${tool} is missing, without which some clients are not tried: ${ways[tool]}`;
  }
}

/** The first of several that is missing. */
export const firstMissing = (...missing: readonly (string | undefined)[]): string | undefined =>
  missing.find((one) => one !== undefined);
