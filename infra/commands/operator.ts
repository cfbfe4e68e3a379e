/** Asks AWS who runs a command. */

import { StartError } from '../environment.ts';
import { accessFault, awsAccess, awsCall } from './aws.ts';

/**
 * ARN of the identity whose credentials the environment has. That of an assumed role includes its session, which often has
 * a person's name.
 *
 * @throws StartError when AWS gives no identity
 */
export async function operatorArn(): Promise<string> {
  try {
    const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const body = 'Action=GetCallerIdentity&Version=2011-06-15';
    const { status, text } = await awsCall('sts', await awsAccess(), form, body);
    const arn = /<Arn>(arn:[^<]+)<\/Arn>/.exec(text)?.[1];
    if (status !== 200 || !arn) throw Object.assign(new Error(), { name: `status ${status}` });
    return arn;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw (
      accessFault(error) ??
      new StartError(
        `AWS does not say who you are, and a change without a name in the audit is not made: ${(error as Error).name}.`,
      )
    );
  }
}
