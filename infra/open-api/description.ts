/** Describes an operation in Markdown, as far as types cannot. */

import { maxFreeParameters } from '../../lib/catalogue/free-parameters.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { limits, type Note, type Operation } from '../../lib/catalogue/index.ts';
import { scopeOf } from '../../lib/catalogue/scopes.ts';
import { maxRecordsOf } from '../../lib/gateway/validate.ts';
import { journalInProse } from './journaled.ts';

/** Part of a description: something that every caller must know, or an explanation. */
interface DescriptionPart {
  readonly text: string | false | undefined;
  readonly explains?: true;
}

function partsOf(operation: Operation): readonly DescriptionPart[] {
  const { aliases, anyQuery, deprecated, limit, notes = [], paging, sideEffect, decisions = [] } = operation;
  const { group, accounts, recordBytes } = operation;
  return [
    { text: deprecated && `**Deprecated.** ${deprecated}` },
    ...notesInProse(notes).map((text) => ({ text, explains: true }) as const),
    { text: paging && pages(paging) },
    { text: recordBytes !== undefined && `An answer has room for ${maxRecordsOf(operation)} records.` },
    {
      text:
        sideEffect &&
        `Changes state at the upstream: sent once. When the answer is lost, the code is \`outcome_unknown\`. ${sideEffect.findOut}`,
    },
    { text: journalInProse(operation) },
    {
      text:
        anyQuery &&
        `Takes up to ${maxFreeParameters} query parameters of any name but a signing header’s, and none with \`account\` in it, and passes them on.`,
      explains: true,
    },
    {
      text:
        isAccountData(group) &&
        `Needs the scope \`${scopeOf(operation)}\`${accounts ? ', for each account that it names or shows' : ''}.`,
    },
    { text: limit && `Counts against the upstream’s limit of ${limitInWords(limit)}.` },
    {
      text: aliases.length > 0 && `Also at ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`,
      explains: true,
    },
    {
      text: decisions.length > 0 && `Decided where sources conflict or are silent:\n\n${bullets(decisions)}`,
      explains: true,
    },
  ];
}

const joinTexts = (parts: readonly DescriptionPart[]): string =>
  parts
    .map(({ text }) => text)
    .filter(Boolean)
    .join('\n\n');

export const descriptionOf = (operation: Operation): string => joinTexts(partsOf(operation));

/** Splits the description in two, for a page that folds the explanations. */
export function descriptionInTwo(operation: Operation): { readonly first: string; readonly more: string } {
  const parts = partsOf(operation);
  return {
    first: joinTexts(parts.filter(({ explains }) => !explains)),
    more: joinTexts(parts.filter(({ explains }) => explains)),
  };
}

export const notesInProse = (notes: readonly Note[]): readonly string[] =>
  notes.map(({ text, source }) => (source === 'observed' ? `${text} (Seen live.)` : text));

function pages({ parameter, items, next }: NonNullable<Operation['paging']>): string {
  const where =
    'member' in next ? `\`${next.member}\` of the answer` : `\`${next.ofLastItem}\` of its last record`;
  const records = items ? `the records stand in \`${items}\`; ` : '';
  return `One page of several: ${records}the next one is asked for with \`${parameter}\` set to ${where}.`;
}

function limitInWords(name: NonNullable<Operation['limit']>): string {
  const { title, requests, perSeconds } = limits[name];
  return `${requests} requests in ${perSeconds} s (${title})`;
}

const bullets = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n');
