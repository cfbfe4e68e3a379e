/** Makes docs/command.md, every command with its help, from the table of commands. */

import { isGroup, parse, program } from '../commands/command.ts';
import { table } from '../commands/table.ts';

export async function helpOf(words: string): Promise<string> {
  const parsed = await parse([...words.split(' ').filter(Boolean), '--help'], table, '');
  return 'text' in parsed ? parsed.text : '';
}

export async function commandPage(): Promise<string> {
  const help = async (words: string) => `\`\`\`text\n${(await helpOf(words)).trim()}\n\`\`\``;
  const sections = [await help('')];
  for (const [name, { load }] of Object.entries(table)) {
    const loaded = await load();
    const names = isGroup(loaded) ? [name, ...Object.keys(loaded).map((verb) => `${name} ${verb}`)] : [name];
    sections.push(`## ${name}`);
    for (const one of names) sections.push(await help(one));
  }
  return `${[head, ...sections].join('\n\n')}\n`;
}

const head = `# The command ${program}

For developers and operators: every command, with its options and an example. Made from the table of commands by
\`npm run docs\`; a test keeps it current.

\`npx ${program}\` runs it, from the package and in a clone; there, \`npm run ${program} --\` does, too. Options follow the
command, and a stage is always \`--stage\`.

| Exit code | Meaning |
|---|---|
| 0 | It is done, and what was looked at is well. |
| 1 | It could not be done, or what was looked at is not well or not known. One sentence says why. |
| 2 | The command line is wrong, and nothing was done. One sentence says what to change. |

**Secrets are never arguments**, because every process of the machine can read those. \`APP_KEY\`, \`APP_SECRET\`,
\`ACCESS_TOKEN\` (the upstream's), \`API_KEY\` and \`TOKEN\` (the gateway's) come from the environment, or as JSON from a file
or standard input by \`--credentials\`. AWS credentials and the Region come from where every AWS command finds them.

**Stages** stand in \`infra/stack/stages.ts\` of a clone. A \`countersign.json\` in the folder where the command runs replaces
them: \`{"prod": {"upstream": {"baseUrl": "https://…", "limits": "published"}}}\`, with the properties of
[configuration.md](configuration.md). A stage that is not there is refused before AWS is asked. \`--stack\` names a stack of
another CDK app in place of a stage. Outside a clone, \`deploy\`, \`diff\` and \`destroy\` need
\`aws-cdk\`, \`aws-cdk-lib\` and \`constructs\` installed beside the package.

\`--json\` prints data as JSON. What goes wrong is a sentence on standard error all the same.`;
