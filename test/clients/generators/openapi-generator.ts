/** openapi-generator's clients for the JVM: four libraries for JSON in Kotlin, two for HTTP in Java. */

import type { Generator } from '../generator.ts';
import { firstMissing, onPath, pipInstall, pythonVersionOf } from '../installs.ts';

interface Client {
  readonly name: string;
  readonly language: string;
  readonly example: string;
  /** Behind the generator's name in its command. */
  readonly options: string;
  /** The profile of the example's pom.xml, where it is not the first. */
  readonly profile?: string;
  readonly main: string;
}

const ofClient = ({ options, profile, main, ...about }: Client): Generator => ({
  ...about,
  version: pythonVersionOf('openapi-generator-cli'),
  documents: ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'],
  missing: () => firstMissing(pipInstall('openapi-generator-cli'), onPath('java'), onPath('mvn')),
  generate: [`openapi-generator-cli generate -i openapi.json -o client -g ${options}`],
  compile: [`mvn -q compile${profile ? ` -P ${profile}` : ''}`],
  run: `java -cp 'target/classes:target/lib/*' ${main}`,
});

const kotlin = (json: string, options = ''): Generator =>
  ofClient({
    name: `openapi-generator kotlin, ${json}`,
    language: 'Kotlin',
    example: 'kotlin',
    options: `kotlin${options}`,
    main: 'MainKt',
    ...(options && { profile: json }),
  });

const java = (library: string, options = ''): Generator =>
  ofClient({
    name: `openapi-generator java, ${library}`,
    language: 'Java',
    example: 'java',
    options: `java${options}`,
    main: 'Main',
    ...(options && { profile: library }),
  });

export const openapiGenerator: readonly Generator[] = [
  kotlin('moshi'),
  kotlin('gson', ' --additional-properties serializationLibrary=gson'),
  kotlin('jackson', ' --additional-properties serializationLibrary=jackson'),
  kotlin('kotlinx', ' --additional-properties serializationLibrary=kotlinx_serialization'),
  java('okhttp-gson'),
  java('native', ' --library native'),
];
