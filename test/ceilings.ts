/** The figures that grow only with a reason: compares what was counted with them, and looks for the reasons. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { houseFigures } from './code-lines.ts';
import { root } from './support/bundle.ts';

export const ceilingsFile = 'test/ceilings.json';

/** By what is counted, as the file calls it. */
export type Figures = Readonly<Record<string, number>>;

const { about: _, ...figures } = JSON.parse(readFileSync(join(root, ceilingsFile), 'utf8')) as Figures & {
  readonly about: unknown;
};
export const ceilings: Figures = figures;

/** What the file calls the size of a function's bundle. */
export const bytesOf = (name: string) => `bytes of ${name}`;

/** Below this share of its ceiling, a count asks for a lower one. */
const roomy = 0.98;

/**
 * What is above its ceiling, in a sentence each. One line or byte too many is refused: if there were slack, every
 * commit would take a little of it unseen. What has no ceiling grew from nothing.
 */
export const grown = (counts: Figures, allowed: Figures = ceilings): readonly string[] =>
  Object.entries(counts).flatMap(([what, count]) => {
    const ceiling = allowed[what] ?? 0;
    if (count <= ceiling) return [];
    return [
      `"${what}" grew from ${ceiling} to ${count}. Delete what the feature costs, or raise the figure in ${ceilingsFile}` +
        ' and give the reason in a line "Ceiling: <reason>" of the commit\'s message.',
    ];
  });

/**
 * What is far below its ceiling, in a sentence each. That is no fault, because a commit that deletes should not have to
 * edit figures; but until a commit lowers the ceiling, as much can grow again unseen.
 */
export const shrunk = (counts: Figures, allowed: Figures = ceilings): readonly string[] =>
  Object.entries(counts).flatMap(([what, count]) => {
    const ceiling = allowed[what] ?? 0;
    return count < roomy * ceiling
      ? [`"${what}" is ${count}; lower its ceiling of ${ceiling} in ${ceilingsFile}.`]
      : [];
  });

/** @throws with a line for each count that is above its ceiling */
export function holdCeilings(counts: Figures): void {
  for (const line of shrunk(counts)) console.log(line);
  const faults = grown(counts);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Without what a git hook says of the repository that it runs for. */
const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...env } = process.env;

export const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 30,
  });

/** A commit, or a merge with all that it brought, that changed figures. */
interface Change {
  readonly commit: string;
  readonly message: string;
  readonly before: Figures;
  readonly after: Figures;
}

/**
 * How the file came to be as it is in HEAD, newest first: on the way of the first parents, so that a merge is one change.
 * `undefined` where git does not know all of it: in a tarball, in a shallow clone, before the file's first commit.
 */
export function changesOf(folder: string): readonly Change[] | undefined {
  try {
    if (git(folder, 'rev-parse', '--is-shallow-repository').trim() !== 'false') return undefined;
    const format = ['--format=%x00%H%x00%B%x00', '--no-show-signature'];
    const patch = ['--patch', '-m', '--unified=0', '--no-color', '--no-ext-diff', '--no-textconv'];
    const log = git(folder, 'log', '--first-parent', ...format, ...patch, '--', ceilingsFile);
    const [, ...parts] = log.split('\0');
    const changes = Array.from({ length: parts.length / 3 }, (_, index): Change => {
      const [commit = '', message = '', diff = ''] = parts.slice(3 * index);
      return { commit, message, before: figuresOn('-', diff), after: figuresOn('+', diff) };
    });
    return changes.length > 0 ? changes : undefined;
  } catch {
    return undefined;
  }
}

/** Of the lines of a diff that begin so. */
const figuresOn = (sign: '+' | '-', diff: string): Figures =>
  Object.fromEntries(
    [...diff.matchAll(/^([+-]) *"(.+)": ([\d.]+),?$/gm)].flatMap(([, found, what = '', figure]) =>
      found === sign ? [[what, Number(figure)]] : [],
    ),
  );

const reason = /^(?:Ceiling|Allowed: \d+ [^:]+): *\S/m;
/** How much of a figure of the house a change may add, in a line of a commit that raises the figure. */
const allowance = (message: string, what: string): number | undefined => {
  const found = new RegExp(`^Allowed: (\\d+) ${what}: *\\S`, 'm').exec(message);
  return found ? Number(found[1]) : undefined;
};

/**
 * The raises that no line `Ceiling: <reason>` explains, in a sentence each. The file's first commit raises nothing. A
 * figure that was put back later needs no reason any more: that is the way out when the commit can't be amended.
 */
export function raisesWithoutReason(folder: string, changes: readonly Change[]): readonly string[] {
  const lowestSince = new Map<string, number>();
  const faults: string[] = [];
  for (const { commit, message, before, after } of changes.slice(0, -1)) {
    const isExplained = () =>
      reason.test(message) || reason.test(git(folder, 'log', '--format=%B', `${commit}^..${commit}`));
    for (const what of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [from, to] = [before[what] ?? 0, after[what] ?? 0];
      const lowest = lowestSince.get(what) ?? Number.POSITIVE_INFINITY;
      lowestSince.set(what, Math.min(lowest, to));
      if (to > from && lowest > from && !isExplained())
        faults.push(
          `${commit.slice(0, 12)} raises "${what}" from ${from} to ${to} and does not say why: add a line "Ceiling: <reason>"` +
            ' to its message. If others have the commit already, put the figure back, and raise it again with the reason.',
        );
    }
  }
  return faults;
}

/**
 * The raises of the house's figures beyond what was allowed last, in a sentence each. No reason excuses one: a feature pays
 * with what it makes unnecessary. A figure that is lower again needs no excuse.
 */
export function raisesBeyondAllowance(
  changes: readonly Change[],
  figures: readonly string[] = houseFigures,
): readonly string[] {
  return figures.flatMap((what) => {
    let most: number | undefined;
    let beyond: { readonly from: number; readonly commit: string } | undefined;
    let now = 0;
    for (const { commit, message, before, after } of [...changes].reverse()) {
      const to = after[what];
      if (to === undefined) continue;
      const allowed = allowance(message, what);
      // Nothing that was beyond an earlier one is allowed by this.
      if (allowed !== undefined)
        most = Math.min(before[what] ?? 0, most ?? Number.POSITIVE_INFINITY) + allowed;
      most = to < (before[what] ?? to) ? to : (most ?? to);
      if (to <= most) beyond = undefined;
      else beyond ??= { from: most, commit };
      now = to;
    }
    if (!beyond) return [];
    return [
      `${beyond.commit.slice(0, 12)} raises "${what}" above ${beyond.from}, which was allowed, and it is ${now}. Delete as` +
        ` much as the change added beyond that. A new change has a line "Allowed: <number> ${what}: <for what>".`,
    ];
  });
}

/**
 * Where the minutes of CI went, and its two figures beside their ceilings.
 * @param processorSeconds of `npm test` and all that it started
 * @param parts seconds by the clock
 */
export function timesOfCi(
  processorSeconds: number,
  parts: Figures,
  allowed: Figures = ceilings,
): { readonly lines: readonly string[]; readonly faults: readonly string[] } {
  const seconds = Object.values(parts).reduce((sum, part) => sum + part, 0);
  const counts: Figures = {
    'minutes of CI': Math.round(seconds / 6) / 10,
    'processor seconds of npm test': processorSeconds,
  };
  return {
    lines: [
      ...Object.entries(parts).map(
        ([part, own]) =>
          `${part.padEnd(8)}${(own / 60).toFixed(1).padStart(6)} minutes${((100 * own) / seconds).toFixed(0).padStart(5)} %`,
      ),
      ...Object.entries(counts).map(([what, count]) => `${what}: ${count} of ${allowed[what]}`),
    ],
    faults: grown(counts, allowed),
  };
}
