/** Explains once, in words, why an upstream other than the simulator refuses requests, and what to do. */

import { checkToken } from '../../lib/catalogue/index.ts';
import { createClient, direct } from '../../lib/client/index.ts';
import type { RequestReport } from '../../lib/gateway/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { diagnose } from '../diagnose.ts';
import type { LocalSettings } from './settings.ts';

interface Doctor {
  /** Observes the report of every request. Never rejects. */
  observe(report: Omit<RequestReport, 'defect'>): Promise<void>;
}

interface Patient extends Pick<LocalSettings, 'credentials' | 'accessToken'> {
  readonly baseUrl: string;
}

/**
 * @param print takes one line for each cause, without any part of a key, a token or an account
 * @example
 * const doctor = createDoctor({ baseUrl, credentials }, console.error);
 * const run = await startLocalRun(settings, { log: (entry) => isRequest(entry) && doctor.observe(entry) });
 */
export function createDoctor(patient: Patient, print: (line: string) => void): Doctor {
  const saidSentences = new Set<string>();
  const unknownPaths = new Set<string>();
  let knowsAPath = false;
  /** State of the token, asked for once until a request succeeds. */
  let tokenStatus: Promise<string | undefined> | undefined;
  return {
    async observe({ code, operation, status, attempts, upstreamStatus, ...facts }) {
      if (code === undefined && attempts > 0 && status < 400) {
        knowsAPath = true;
        tokenStatus = undefined;
      }
      if (code === undefined) return;
      if (code === 'upstream_path_unknown') unknownPaths.add(operation ?? '');
      else if (upstreamStatus !== undefined) knowsAPath = true;
      if (facts.cause === 'token_refused') tokenStatus ??= tokenStatusOf(patient);
      const diagnosis = diagnose({
        ...facts,
        code,
        everywhere: knowsAPath ? false : unknownPaths.size > 1 || undefined,
        ...(facts.cause === 'token_refused' && { tokenStatus: await tokenStatus }),
      });
      if (!diagnosis || saidSentences.has(diagnosis.sentence)) return;
      saidSentences.add(diagnosis.sentence);
      print(`${diagnosis.sentence} ${diagnosis.remedy}`);
    },
  };
}

/** Asks the upstream for the token's state, which every client with the app secret may read. */
async function tokenStatusOf({ baseUrl, credentials, accessToken }: Patient): Promise<string | undefined> {
  if (accessToken === undefined) return undefined;
  try {
    const client = createClient({ checkToken }, direct({ baseUrl, signer: createSigner(credentials) }));
    return (await client.checkToken({ token: accessToken })).status;
  } catch {
    return undefined;
  }
}
