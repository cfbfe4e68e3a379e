/** openapi-python-client makes a package of the document, with httpx and attrs. */

import type { Generator } from '../generator.ts';
import { pipInstall, pythonVersionOf } from '../installs.ts';

export const openapiPythonClient: Generator = {
  name: 'openapi-python-client',
  version: pythonVersionOf('openapi-python-client'),
  language: 'Python',
  example: 'python',
  documents: ['for generators, 3.0', 'for generators, 3.1', 'exact, 3.0', 'exact, 3.1'],
  missing: () => pipInstall('openapi-python-client'),
  generate: ['openapi-python-client generate --path openapi.json'],
  compile: ['MYPYPATH=countersign-client mypy main.py'],
  run: 'PYTHONPATH=countersign-client python3 main.py',
};
