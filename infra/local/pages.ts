/**
 * Pages of the local run that need no key: the operations that a gateway answers with a constant, as in a deployment; and
 * the page, its OpenAPI document and the reference, which no deployment has.
 */

import { extname } from 'node:path';
import type { Group, Operation } from '../../lib/catalogue/index.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import { onDemand, untilResolved } from '../../lib/kernel/once.ts';
import { type Fault, faultsInWords } from '../../lib/problem.ts';
import { askedOfDocument, type DocumentForm, documentForm } from '../open-api/document-form.ts';
import { localDocument, localPolicy, type PageFiles, pageFiles } from '../page-bundle.ts';
import { type LocalPage, type PageRequest, page } from './page-answer.ts';
import type { HttpResponse } from './proxy-result.ts';
import { referencePages } from './reference.ts';

interface PagesOptions {
  /** Makes the OpenAPI document, on request, because this run's address is known only then. */
  readonly document: (form: DocumentForm) => unknown;
  /** Makes the document in the form that the reference shows. */
  readonly reference: () => unknown;
  /** Groups that the run opens. */
  readonly open: readonly Group[];
}

/** Files of the page, the same for every run of this process. */
const cachedFiles = untilResolved(pageFiles);

export function createPages({ document, reference, open }: PagesOptions): ReadonlyMap<string, LocalPage> {
  const textsByForm = new Map<string, string>();
  const openApiText = (form: DocumentForm) => {
    const name = JSON.stringify(form);
    const text = textsByForm.get(name) ?? JSON.stringify(document(form));
    textsByForm.set(name, text);
    return text;
  };
  const referenceText = onDemand(() => JSON.stringify(reference()));
  const ofPage = async (name: keyof PageFiles): Promise<HttpResponse> => {
    const all = await cachedFiles();
    return page(extname(name), name === 'index.html' ? localDocument(all) : all[name], localPolicy);
  };
  return new Map<string, LocalPage>([
    // An app that takes JSON alone has forgotten the path.
    ['/', ({ accept = '*/*' }) => (/text\/html|\*\/\*/.test(accept) ? ofPage('index.html') : undefined)],
    ['/page.js', () => ofPage('page.js')],
    ['/page.css', () => ofPage('page.css')],
    ['/openapi.json', (request) => openApi(request, openApiText)],
    ...referencePages({ document: referenceText, open }),
  ]);
}

/** Content security policy under which nothing is loaded. */
const noScripts = "default-src 'none'; frame-ancestors 'none'";

/** Refuses an unknown form: the document in another one would go unnoticed into a generator. */
function openApi({ query, accept, requestId }: PageRequest, textOf: (form: DocumentForm) => string) {
  const parameters = Object.fromEntries(query);
  const form = documentForm(parameters);
  const errors: readonly Fault[] = [...query.keys()].flatMap((name, index, names) => {
    if (!Object.hasOwn(askedOfDocument, name))
      return [
        { in: 'query', name, detail: 'no parameter', allowed: Object.keys(askedOfDocument).join(', ') },
      ];
    if (names.indexOf(name) < index) return [{ in: 'query', name, detail: 'given twice' }];
    const known = name as keyof typeof askedOfDocument;
    if (documentForm({ [known]: parameters[known] })) return [];
    return [{ in: 'query', name, detail: 'not an allowed value', allowed: askedOfDocument[known] }];
  });
  if (form && errors.length === 0) return page('.json', textOf(form), noScripts);
  const refusal = { code: 'invalid_parameter', detail: faultsInWords(errors), errors } as const;
  const { status, headers, body } = refusalResponse(refusal, requestId, accept);
  return { status, headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value]])), body };
}

/** Pages of the operations that need no function: API Gateway's integration type `mock`. */
export function constantPages(operations: readonly Operation[]): ReadonlyMap<string, LocalPage> {
  return new Map(
    operations.flatMap(({ path, aliases, gatewayAnswer }) =>
      gatewayAnswer
        ? [path, ...aliases].map((one) => [one, () => constantAnswer(gatewayAnswer.body)] as const)
        : [],
    ),
  );
}

const constantAnswer = (body: string): HttpResponse => ({
  status: 200,
  headers: new Map([
    ['content-type', ['application/json']],
    ['cache-control', ['no-store']],
  ]),
  body: Buffer.from(body),
});
