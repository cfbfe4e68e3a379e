/**
 * How a function is bundled: once for plain esbuild, which measures and tests the bundles, and once for the
 * CDK's NodejsFunction, which deploys them. One table, so that what is measured is what is deployed.
 */

import type { BundlingOptions, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { BuildOptions } from 'esbuild';

/** The deployed runtime, as esbuild calls it. */
const target = 'node24';

/**
 * The AWS client imports these only when the environment has no credentials, or for operations that answer with a stream of
 * events. Lambda always sets credentials, nothing of their other sources (profiles, SSO, metadata services) exists in a
 * function, and no function calls such an operation.
 */
const neverUsed = [
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-login',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@smithy/core/event-streams',
  '@smithy/credential-provider-imds',
];

/** The ESM builds of the AWS client: half the size, because what is not used can be left out of them. */
const mainFields = ['module', 'main'];

/** For `esbuild.build`; entry points and output are the caller's. */
export const esbuildOptions = {
  bundle: true,
  platform: 'node',
  target,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  minify: true,
  // Beside the bundle, for stack traces only; the sources themselves are in the repository.
  sourcemap: 'linked',
  sourcesContent: false,
  mainFields,
  external: neverUsed,
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** For `NodejsFunction`; names the same options in its own way. */
export const bundlingOptions: BundlingOptions = {
  target,
  // Values of the library's enums, written out: loading the library would slow down a caller that only bundles.
  format: 'esm' as OutputFormat.ESM,
  sourceMapMode: 'default' as SourceMapMode.DEFAULT,
  minify: true,
  sourceMap: true,
  sourcesContent: false,
  mainFields: [...mainFields],
  externalModules: neverUsed,
  esbuildArgs: { '--legal-comments': 'none' },
};
