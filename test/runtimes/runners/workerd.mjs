// workerd calls `test` of the default export: crypto and timers exist only inside of a handler.
import { count, run } from 'table';

// biome-ignore lint/style/noDefaultExport: workerd looks for the handler there
export default {
  async test() {
    const failures = await run();
    if (failures.length > 0) throw new Error(failures.join('\n'));
    console.log(`${count} checks passed`);
  },
};
