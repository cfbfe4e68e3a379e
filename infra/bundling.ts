/**
 * Options of the functions' bundles: for plain esbuild, which measures and tests them, and for the CDK's NodejsFunction,
 * which deploys them. Both share one table, so that what is measured is deployed.
 */

import type { BundlingOptions, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { BuildOptions } from 'esbuild';

/** Deployed runtime, in esbuild's notation. */
const target = 'node24';

/**
 * The AWS client imports these only without credentials in the environment, or for operations that answer with a stream
 * of events. Lambda always sets credentials, a function has none of their other sources (profiles, SSO, metadata
 * services), and no function calls such an operation.
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

/** Selects the ESM builds of the AWS client: half the size, because unused code can be left out of them. */
const mainFields = ['module', 'main'];

/** Options for `esbuild.build`; the caller adds entry points and output. */
export const esbuildOptions = {
  bundle: true,
  platform: 'node',
  target,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  minify: true,
  // Written beside the bundle, for stack traces only; the sources themselves are in the repository.
  sourcemap: 'linked',
  sourcesContent: false,
  mainFields,
  external: neverUsed,
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Options for `NodejsFunction`, which has other names for them. */
export const bundlingOptions: BundlingOptions = {
  target,
  // Literal values of the library's enums: loading the library would slow down a caller that only bundles.
  format: 'esm' as OutputFormat.ESM,
  sourceMapMode: 'default' as SourceMapMode.DEFAULT,
  minify: true,
  sourceMap: true,
  sourcesContent: false,
  mainFields: [...mainFields],
  externalModules: neverUsed,
  esbuildArgs: { '--legal-comments': 'none' },
};
