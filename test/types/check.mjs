/**
 * What a compiler finds wrong with a program in several ways to find modules, in one process. Prints JSON.
 *
 *     node check.mjs TYPESCRIPT CONFIG…
 *
 * Every file is looked at, but for the compiler's own declarations. Those of another package are looked at once, as
 * they take most of the time, and no way to find modules makes others of them.
 */

const [typescript = '', ...configs] = process.argv.slice(2);
const { default: ts } = await import(typescript);
const { sys } = ts;

/** Declarations of other packages. */
const seen = new Set();
/** The compiler's own. */
const libraries = new Map();

function isNew({ fileName }) {
  const path = sys.realpath(fileName);
  return path.includes('/node_modules/countersign/') || !path.includes('/node_modules/')
    ? true
    : !seen.has(path) && seen.add(path);
}

function check(config) {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(config, {}, sys);
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  const own = host.getDefaultLibLocation();
  host.getSourceFile = (name, ...rest) => {
    if (!name.startsWith(own)) return getSourceFile(name, ...rest);
    if (!libraries.has(name)) libraries.set(name, getSourceFile(name, ...rest));
    return libraries.get(name);
  };
  const program = ts.createProgram(fileNames, options, host);
  const files = program
    .getSourceFiles()
    .filter((file) => !program.isSourceFileDefaultLibrary(file) && isNew(file));
  const found = [
    ...errors,
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ];
  return { files: files.length, said: ts.formatDiagnostics(found, host) };
}

console.log(JSON.stringify(Object.fromEntries(configs.map((config) => [config, check(config)]))));
