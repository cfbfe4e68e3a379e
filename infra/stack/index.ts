/** The deployment for CDK apps of one's own: the construct, the stack around it, and what they are configured with. */

export { ConfigError, type CountersignConfig } from './config.ts';
export { Countersign, type CountersignProps, type CountersignTables } from './countersign.ts';
export { CountersignStack, type CountersignStackProps } from './stack.ts';
