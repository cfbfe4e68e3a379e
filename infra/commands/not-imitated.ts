/** What the live upstream is known to do, and neither simulator nor catalogue imitates: with the reason. */

export interface NotImitated {
  readonly fact: string;
  readonly reason: string;
}

const notBuiltYet = 'Not built yet: the event stream is no part of the gateway so far.';

export const notImitated: readonly NotImitated[] = [
  {
    fact: 'Repeated excess may block the IP address for a while.',
    reason: 'Neither how often nor how long is known; the limiter is there so that it does not happen.',
  },
  {
    fact: 'The accounts list has a limit of its own: about eight calls in quick succession.',
    reason:
      'How long a succession is was not seen: six calls a minute stand for it where `upstream.limits` is a published preset, in the gateway and in the simulator. By default the simulator has no such limit. The gateway keeps the list for a minute.',
  },
  {
    fact: 'A leg of an index option is named by its OCC root (`SPXW`), and its underlying (`SPX`) is refused.',
    reason:
      'The simulator’s market has no options whose root is not their underlying; a symbol that it does not know is refused.',
  },
  {
    fact: 'Cash activities take 1 to 200 records a page.',
    reason: 'The operation is not in the catalogue: no source shows its parameters and its answer.',
  },
  {
    fact: 'A token can be refreshed at `/openapi/auth/token/refresh`.',
    reason: 'Known by name only: neither its body nor its answer is. A token is prolonged by use.',
  },
  {
    fact: 'Apps of institutions get client tokens and call the market-data host themselves.',
    reason: 'Another host and another protocol, which the interface text does not describe.',
  },
  {
    fact: 'The event stream: its signature, its metadata and its subscription to several accounts.',
    reason: notBuiltYet,
  },
  {
    fact: 'Event types of the stream (subscribed, ping, authentication error, too many connections, expired, order, position, option) and what each asks of a client.',
    reason: notBuiltYet,
  },
  {
    fact: 'After a reconnect an event of the stream may come again, and events of the gap are lost.',
    reason: notBuiltYet,
  },
  { fact: 'A subscription can stay healthy and deliver nothing for hours.', reason: notBuiltYet },
  { fact: 'Payloads of order and position events.', reason: notBuiltYet },
];
