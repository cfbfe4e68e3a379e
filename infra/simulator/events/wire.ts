/** Connection that can be made to fail: it can end at any moment, or go dead while both ends think it is up. */

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export class Wire extends Duplex {
  readonly #socket: Socket;
  #isFrozen = false;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk) => {
      if (!this.#isFrozen && !this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('close', () => this.destroy());
    // The end of the connection follows the error, and is handled above.
    socket.on('error', () => {});
  }

  /** Blocks everything in both directions from now on, even HTTP/2's acknowledgements. */
  freeze(): void {
    this.#isFrozen = true;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (this.#isFrozen || this.#socket.destroyed) done();
    else this.#socket.write(chunk, () => done());
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
