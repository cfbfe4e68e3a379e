/**
 * A gateway behind a server of Node, and Node's own sockets for what it sends.
 *
 * @example
 * createServer(createNodeListener(gateway)).listen(8080);
 */

export type { Sender, ServerOptions } from '../../lib/fetch/answer.ts';
export { createNodeSend, type NodeSendOptions } from '../aws/node-send.ts';
export { createNodeListener, type NodeListener } from './listener.ts';
