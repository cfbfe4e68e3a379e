/** What the documents say of bodies, asked of a JSON Schema validator: null where the gateway takes it, else not. */

import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, test } from 'vitest';
import { type FunctionName, functionsOf } from '../../functions/rows.ts';
import { apiDefinition } from '../../infra/stack/api-definition.ts';
import { type Group, groups, operations } from '../../lib/catalogue/index.ts';
import { type Member, membersOf, withNull } from '../support/members.ts';
import { documentOf, exposed } from './support.ts';

const everyFunction = (value: string) =>
  Object.fromEntries(
    (Object.keys(groups) as Group[]).flatMap(functionsOf).map((name) => [name, value]),
  ) as Record<FunctionName, never>;

/** Each with the validator that reads its dialect: `nullable` of OpenAPI 3.0 counts beside a type only. */
const documents = {
  '3.1': [documentOf({ operations }), Ajv2020],
  '3.0': [documentOf({ operations, version: '3.0' }), Ajv],
  'API Gateway': [
    apiDefinition({
      title: 'Test',
      operations: exposed,
      access: everyFunction('iam'),
      integrationUris: everyFunction('uri'),
      origins: [],
      throttleRetryAfterSeconds: 1,
    }) as unknown as ReturnType<typeof documentOf>,
    Ajv,
  ],
} as const;

for (const [dialect, [document, Validator]] of Object.entries(documents))
  describe(`OpenAPI for ${dialect}`, () => {
    const ajv = new Validator({ strict: true, strictTypes: false, strictRequired: false });
    ajv.addVocabulary(['x-extensible-enum', 'components', 'paths', 'info', 'openapi']);
    for (const format of ['decimal', 'int64', 'date', 'date-time', 'uri']) ajv.addFormat(format, true);
    ajv.addSchema({ $id: 'document', components: document.components });

    for (const { id, path, body, example } of operations) {
      const content = document.paths[path]?.post?.requestBody?.content['application/json'];
      if (!body || !content) continue;
      test(id, () => {
        const fits = ajv.compile({ $ref: `document${content.schema.$ref}` });
        const members = [...membersOf(body, example.body)];
        const optional = members.filter(({ mayBeLeftOut }) => mayBeLeftOut);
        assert.ok(fits(example.body), ajv.errorsText(fits.errors));
        for (const some of [...optional.map((one) => [one]), optional])
          assert.ok(fits(withNull(example.body, some)), ajv.errorsText(fits.errors));
        // API Gateway's models do not look into a member that may be null.
        const isInOptional = ({ at }: Member) =>
          optional.some((one) => one.at.length < at.length && one.at.every((key, n) => key === at[n]));
        for (const member of members.filter(({ mayBeLeftOut }) => !mayBeLeftOut)) {
          // API Gateway's models know no null, so that they say nothing of a member that may be null.
          const seen = dialect !== 'API Gateway' || !isInOptional(member);
          assert.equal(fits(withNull(example.body, [member])), !seen, member.at.join('/'));
        }
      });
    }
  });
