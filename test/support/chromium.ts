/** A page in Chromium, driven over the pipe of its debugging protocol: no driver, and no port. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

export const chromium = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find((path) => existsSync(path));

export const noChromium = chromium
  ? undefined
  : 'Chromium is missing: apt-get install --no-install-recommends chromium-headless-shell';

/** Far above what a page takes on a busy machine: it ends what hangs, and judges nothing. */
const patienceMs = 300_000;

/** By their names, with what the protocol wants besides. */
const keys = {
  Tab: { windowsVirtualKeyCode: 9 },
  Enter: { windowsVirtualKeyCode: 13, text: '\r' },
} as const;

interface Message {
  readonly id?: number;
  /** Of the page that it is about. */
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export interface BrowserPage {
  /** Errors of scripts, those that they write on the console, and what the page's policy did not let in. */
  readonly errors: readonly string[];
  /** Another document: an address that differs behind its # alone opens none. */
  open(url: string): Promise<void>;
  reload(): Promise<void>;
  /** @param expression JavaScript; a promise is awaited, and the value must be JSON */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until the expression is true, also in a document that comes meanwhile. */
  until(expression: string): Promise<void>;
  /** A press of the mouse in the middle of the element that the expression gives, scrolled to where it is seen. */
  click(expression: string): Promise<void>;
  /** Keys, as a person types them where the focus is. */
  type(text: string): Promise<void>;
  /** One key where the focus is. */
  key(name: keyof typeof keys): Promise<void>;
  /** As on a screen of another size, or with other colours. */
  look(as: {
    readonly width: number;
    readonly height: number;
    readonly scheme: 'light' | 'dark';
  }): Promise<void>;
  /** What the page holds once its garbage is collected: bytes of the scripts' heap, and nodes of its document. */
  held(): Promise<{ readonly bytes: number; readonly nodes: number }>;
  /** A PNG of what is seen. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

/**
 * Each wait ends after a minute, with an error that says what it waited for and what the page showed.
 *
 * @example
 * const page = await openBrowser();
 * t.onTestFinished(() => page.close());
 */
export async function openBrowser(binary = chromium ?? ''): Promise<BrowserPage> {
  const { protocol, close } = startBrowser(binary);
  return { ...(await openPage(protocol)), close };
}

/** One process for pages that are opened one after the other, each with a storage of its own. */
export function shareBrowser(binary = chromium ?? '') {
  let browser: ReturnType<typeof startBrowser> | undefined;
  return {
    async open(): Promise<BrowserPage> {
      browser ??= startBrowser(binary);
      const { protocol } = browser;
      const context = await protocol.call<{ browserContextId: string }>('Target.createBrowserContext', {});
      const close = () => protocol.call<void>('Target.disposeBrowserContext', context);
      return { ...(await openPage(protocol, context)), close };
    },
    async close() {
      await browser?.close();
      browser = undefined;
    },
  };
}

async function openPage(protocol: Protocol, context: object = {}): Promise<Omit<BrowserPage, 'close'>> {
  const { targetId } = await protocol.call<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    ...context,
  });
  const { sessionId } = await protocol.call<{ sessionId: string }>('Target.attachToTarget', {
    targetId,
    flatten: true,
  });
  const errors = errorsOf(protocol, sessionId);
  const call = <T>(method: string, params: object = {}) => protocol.call<T>(method, params, sessionId);
  for (const domain of ['Page', 'Runtime', 'Log', 'Inspector']) await call(`${domain}.enable`);

  async function evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await call<{
      result: { value: T };
      exceptionDetails?: { exception?: { description?: string }; text: string };
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  /** For a person who reads why a test failed. */
  async function shown(): Promise<string> {
    const parts = `[location.href, document.readyState, document.body?.innerText.slice(0, 2000)].join('\\n')`;
    const text = within(5_000, 'the page', evaluate<string>(parts)).catch(String);
    return [`The page showed: ${await text}`, ...errors].join('\n');
  }
  async function until(expression: string): Promise<void> {
    const end = performance.now() + patienceMs;
    while (!(await evaluate<boolean>(`Boolean(${expression})`).catch(unlessLeft))) {
      if (performance.now() > end) throw new Error(`${waited(patienceMs, expression)}\n${await shown()}`);
      await delay(20);
    }
  }
  /** A load event does not say of which document it is: that of an earlier one may still be on its way. */
  async function loaded(method: string, params: object): Promise<void> {
    await evaluate('globalThis.isLeft = true');
    const { errorText } = await call<{ errorText?: string }>(method, params);
    if (errorText) throw new Error(`${method} ${JSON.stringify(params)}: ${errorText}`);
    await until(`!globalThis.isLeft && document.readyState === 'complete'`);
  }
  return {
    errors,
    evaluate,
    open: (url) => loaded('Page.navigate', { url }),
    reload: () => loaded('Page.reload', {}),
    until,
    async click(expression) {
      // What comes above it, or a dialog that opens, moves it: then the press hits nothing of it, and is made again.
      for (let isHit = false; !isHit; ) {
        const [x, y] = await evaluate<[number, number]>(`(() => {
          const one = ${expression};
          one.scrollIntoView({ block: 'center' });
          globalThis.isHit = false;
          one.addEventListener('click', () => { globalThis.isHit = true; }, { once: true, capture: true });
          const { left, top, width, height } = one.getBoundingClientRect();
          return [left + width / 2, top + height / 2];
        })()`);
        const at = { x, y, button: 'left', clickCount: 1 };
        for (const type of ['mousePressed', 'mouseReleased'])
          await call('Input.dispatchMouseEvent', { type, ...at });
        // A press that leads to another document is one that hit.
        isHit = await evaluate<boolean>('globalThis.isHit !== false').catch(unlessLeft).then(Boolean);
      }
    },
    type: (text) => call('Input.insertText', { text }),
    async key(name) {
      const key = { key: name, code: name, ...keys[name] };
      for (const type of ['keyDown', 'keyUp']) await call('Input.dispatchKeyEvent', { type, ...key });
    },
    async look({ width, height, scheme }) {
      const mobile = width < 600;
      await call('Emulation.setDeviceMetricsOverride', { width, height, mobile, deviceScaleFactor: 1 });
      await call('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value: scheme }],
      });
    },
    async held() {
      await call('HeapProfiler.collectGarbage');
      const { usedSize } = await call<{ usedSize: number }>('Runtime.getHeapUsage');
      const { nodes } = await call<{ nodes: number }>('Memory.getDOMCounters');
      return { bytes: usedSize, nodes };
    },
    async screenshot() {
      const { data } = await call<{ data: string }>('Page.captureScreenshot');
      return Buffer.from(data, 'base64');
    },
  };
}

/** The process, and how it ends; its profile is its own. */
function startBrowser(binary: string) {
  const profile = mkdtempSync(join(tmpdir(), 'countersign-chromium-'));
  const browser = spawn(
    binary,
    [
      '--headless',
      // A container's root has no sandbox; the page is this repository's own.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--window-size=1280,1000',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
    ],
    // A group of its own: the binary may be a script that starts the browser, and both have to end.
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
  );
  const ended = new Promise<void>((resolve) => {
    for (const event of ['exit', 'error']) browser.once(event, () => resolve());
  });
  const protocol = createProtocol(browser.stdio[3] as Writable, browser.stdio[4] as Readable, ended);
  return {
    protocol,
    async close() {
      try {
        // It may be gone before its answer is read; that it is gone is all that is asked for here.
        await protocol.call('Browser.close', {}).catch(unlessEnded);
        await within(patienceMs, 'the end of the browser', ended);
      } finally {
        endGroup(browser.pid);
        // Helpers that are still ending hold the other ends.
        for (const pipe of browser.stdio) pipe?.destroy();
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
}

const browserEnded = 'the browser has ended';

const waited = (ms: number, what: string) => `Waited ${ms / 1000} s for ${what}.`;

/** @throws Error that says what did not come */
async function within<T>(ms: number, what: string, coming: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const over = delay(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(waited(ms, what));
  });
  try {
    return await Promise.race([coming, over]);
  } finally {
    timer.abort();
  }
}

/** What is asked of a document while another takes its place has no answer. @throws any other error */
function unlessLeft(error: Error): boolean {
  if (/navigated|context|collected/.test(error.message)) return false;
  throw error;
}

/** A browser that is gone answers nothing. @throws any other error */
function unlessEnded(error: Error): void {
  if (!error.message.endsWith(browserEnded)) throw error;
}

/** What is left of it, and nothing where it has ended. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** They come as the page runs. */
function errorsOf(protocol: Protocol, page: string): readonly string[] {
  const errors: string[] = [];
  const on = (method: string, hear: (params: Readonly<Record<string, unknown>>) => void) =>
    protocol.on(method, ({ params = {}, sessionId }) => sessionId === page && hear(params));
  on('Runtime.exceptionThrown', (params) => errors.push(JSON.stringify(params.exceptionDetails)));
  on('Runtime.consoleAPICalled', ({ type, args }) => {
    const texts = (args as readonly { description?: string; value?: unknown }[]).map(
      ({ description, value }) => description ?? String(value),
    );
    if (type === 'error') errors.push(texts.join(' '));
  });
  on('Log.entryAdded', ({ entry }) => {
    const { level, source, text } = entry as Readonly<Record<string, string>>;
    // Statuses of the API are no errors of the page.
    if (level === 'error' && source !== 'network') errors.push(text ?? '');
  });
  on('Inspector.targetCrashed', () => errors.push('The page has crashed.'));
  return errors;
}

type Protocol = ReturnType<typeof createProtocol>;

/** Messages in JSON with a zero byte after each. */
function createProtocol(to: Writable, from: Readable, ended: Promise<void>) {
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, Set<(message: Message) => void>>();
  let ids = 0;
  let rest = '';
  to.on('error', () => {});
  from.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop() ?? '';
    for (const message of messages.map((one) => JSON.parse(one) as Message)) {
      if (message.id !== undefined) waiting.get(message.id)?.(message);
      else for (const hear of [...(listeners.get(message.method ?? '') ?? [])]) hear(message);
    }
  });
  const atEnd = ended.then((): Message => ({ error: { message: browserEnded } }));
  const on = (method: string, hear: (message: Message) => void) => {
    const all = listeners.get(method) ?? new Set();
    listeners.set(method, all.add(hear));
  };
  return {
    on,
    async call<T>(method: string, params: object, sessionId?: string): Promise<T> {
      const id = ++ids;
      const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
      to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
      const answer = within(patienceMs, `the answer to ${method}`, Promise.race([answered, atEnd]));
      const { error, result } = await answer.finally(() => waiting.delete(id));
      if (error) throw new Error(`${method}: ${error.message}`);
      return result as T;
    },
  };
}
