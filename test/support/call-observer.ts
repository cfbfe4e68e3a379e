/** Tells from a worker which function of the gateway calls which on the main thread: it pauses at the start of each. */

import { type Debugger, type Profiler, Session } from 'node:inspector/promises';
import { parentPort } from 'node:worker_threads';

/** Functions as `lib/gateway/core.ts serve 0:1467`: file, name, place. */
export interface SeenCall {
  readonly callee: string;
  /** Undefined of the first. */
  readonly caller: string | undefined;
}

/** `cover` before a first run, `pause` between the runs, `tell` after the second. */
export type ObserverStep = 'cover' | 'pause' | 'tell';

const session = new Session();
/** Files of the gateway, by their script. */
const files = new Map<string, string>();
const seen: SeenCall[] = [];

const nameOf = ({ location, functionLocation, functionName }: Debugger.CallFrame): string => {
  const { lineNumber, columnNumber } = functionLocation ?? location;
  return `${files.get(location.scriptId)} ${functionName || '=>'} ${lineNumber}:${columnNumber}`;
};

async function pauseAt({ ranges }: Profiler.FunctionCoverage, scriptId: string, text: string): Promise<void> {
  const [whole] = ranges;
  if (!whole || whole.count === 0 || whole.startOffset === 0) return;
  const placeOf = (offset: number): Debugger.Location => {
    const lines = text.slice(0, offset).split('\n');
    return { scriptId, lineNumber: lines.length - 1, columnNumber: lines.at(-1)?.length ?? 0 };
  };
  const [start, end] = [placeOf(whole.startOffset), placeOf(whole.endOffset)];
  const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
    start,
    end,
    restrictToFunction: true,
  });
  const [location] = locations;
  // Two functions may begin at one place, of which the second is refused.
  if (location) await session.post('Debugger.setBreakpoint', { location }).catch(() => {});
}

const steps: Readonly<Record<ObserverStep, () => Promise<void>>> = {
  async cover() {
    await session.post('Debugger.enable');
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
  },
  async pause() {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    for (const { scriptId, functions } of result) {
      if (!files.has(scriptId)) continue;
      const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
      for (const one of functions) await pauseAt(one, scriptId, scriptSource);
    }
  },
  async tell() {
    await session.post('Debugger.disable');
  },
};

session.connectToMainThread();
session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
  const file = /\/((?:lib|functions)\/[^?]*\.ts)/.exec(url)?.[1];
  if (file !== undefined && !url.includes('/node_modules/')) files.set(scriptId, file);
});
session.on('Debugger.paused', ({ params: { callFrames, hitBreakpoints = [] } }) => {
  const [callee, caller] = callFrames.filter(({ location }) => files.has(location.scriptId)).map(nameOf);
  if (callee !== undefined) seen.push({ callee, caller });
  // Once is enough, and each pause costs a time that time-outs count.
  for (const breakpointId of hitBreakpoints) void session.post('Debugger.removeBreakpoint', { breakpointId });
  void session.post('Debugger.resume');
});
parentPort!.on('message', async (step: ObserverStep) => {
  await steps[step]();
  parentPort!.postMessage(seen);
  if (step !== 'tell') return;
  // The process does not end while a session is connected to it.
  session.disconnect();
  parentPort!.close();
});
