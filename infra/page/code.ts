/** Writes a call in several languages. Key and token are left out: they come from the program's own place. */

import { type ApiCall, token, urlOf } from './gateway.ts';

export const languages = ['curl', 'TypeScript', 'Swift', 'Kotlin'] as const;
export type Language = (typeof languages)[number];

type CodeWriter = (call: ApiCall, url: string, headers: readonly (readonly [string, string])[]) => string;

const bearerHeader = 'authorization';
/** Placeholder of the token, in the template syntax of a language. */
const bearerOf = (sign: string) => `\`Bearer ${sign}{token}\``;

/** @example codeOf({ method: 'GET', path: '/trading/accounts/list' }, 'Swift'); */
export function codeOf(call: ApiCall, language: Language): string {
  const headers = Object.entries({
    'x-api-key': 'API_KEY',
    ...(token.value && { [bearerHeader]: 'TOKEN' }),
    ...(call.body && { 'content-type': 'application/json' }),
    ...call.headers,
  });
  return writers[language](call, urlOf(call), headers);
}

/** Tells whether the answer is a stream, which has no end and is read as it comes. */
const isStream = ({ path }: ApiCall) => path.endsWith('/stream');

const isName = (value: string) => value === 'API_KEY' || value === 'TOKEN';

/** Quotes a text for a shell. A single quote in it ends the quotation, stands escaped, and begins it again. */
const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const writers: Readonly<Record<Language, CodeWriter>> = {
  curl: (call, url, headers) =>
    [
      `curl ${isStream(call) ? '-N ' : ''}${shellQuoted(url)}`,
      ...headers.map(([name, value]) => {
        if (!isName(value)) return `  -H ${shellQuoted(`${name}: ${value}`)}`;
        return `  -H "${name}: ${name === bearerHeader ? 'Bearer ' : ''}$${value}"`;
      }),
      ...(call.body ? [`  -d ${shellQuoted(JSON.stringify(call.body))}`] : []),
    ].join(' \\\n'),

  TypeScript: (call, url, headers) => {
    const { method, body } = call;
    const codeFor = (value: string) =>
      value === 'TOKEN' ? bearerOf('$') : isName(value) ? 'apiKey' : `'${value}'`;
    const lines = headers.map(([name, value]) => `    '${name}': ${codeFor(value)},`);
    const json = body && `  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`;
    return [
      `const response = await fetch(${JSON.stringify(url)}, {`,
      `  method: '${method}',`,
      '  headers: {',
      ...lines,
      '  },',
      ...(json ? [json] : []),
      '});',
      ...(isStream(call)
        ? [
            'if (!response.ok || !response.body) throw new Error(await response.text());',
            'for await (const text of response.body.pipeThrough(new TextDecoderStream())) console.log(text);',
          ]
        : [
            'const answer = await response.json();',
            "if (!response.ok) throw new Error([answer.code, answer.detail].join(': '));",
          ]),
    ].join('\n');
  },

  Swift: (call, url, headers) =>
    `var request = URLRequest(url: URL(string: ${JSON.stringify(url)})!)
request.httpMethod = "${call.method}"
${headers.map(([name, value]) => `request.setValue(${value === 'TOKEN' ? '"Bearer \\(token)"' : isName(value) ? 'apiKey' : `"${value}"`}, forHTTPHeaderField: "${name}")`).join('\n')}
${call.body ? `request.httpBody = Data(#"${JSON.stringify(call.body)}"#.utf8)\n` : ''}${
  isStream(call)
    ? `let (bytes, response) = try await URLSession.shared.bytes(for: request)
guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
for try await line in bytes.lines { print(line) }`
    : `let (data, response) = try await URLSession.shared.data(for: request)
guard (response as? HTTPURLResponse)?.statusCode == 200 else {
    throw URLError(.badServerResponse, userInfo: ["body": String(decoding: data, as: UTF8.self)])
}`
}`,

  Kotlin: (call, url, headers) =>
    `val request = Request.Builder()
    .url(${JSON.stringify(url).replaceAll('$', '\\$')})
${headers
  .filter(([name]) => name !== 'content-type')
  .map(
    ([name, value]) =>
      `    .header("${name}", ${value === 'TOKEN' ? '"Bearer $token"' : isName(value) ? 'apiKey' : `"${value}"`})`,
  )
  .join(
    '\n',
  )}${call.body ? `\n    .post("""${JSON.stringify(call.body)}""".toRequestBody("application/json".toMediaType()))` : ''}
    .build()
OkHttpClient().newCall(request).execute().use { response ->
${
  isStream(call)
    ? `    check(response.isSuccessful) { response.body!!.string() }
    val lines = response.body!!.source()
    while (true) println(lines.readUtf8Line() ?: break)`
    : `    val body = response.body!!.string()
    check(response.isSuccessful) { body }
    println(body)`
}
}`,
};
