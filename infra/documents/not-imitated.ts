/** Behaviour of the live upstream that neither simulator nor catalogue imitates, with the reason. */

interface NotImitated {
  readonly fact: string;
  readonly reason: string;
}

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
    fact: 'The market-data stream has US_OPTION and US_CRYPTO, too.',
    reason:
      'The catalogue takes both. Of their messages nothing is known; the simulator refuses them with UNSUPPORTED_CATEGORY.',
  },
  {
    fact: 'Requests to subscribe pass with x-version v2, too.',
    reason: 'The interface text wants v3 of every request, and the simulator refuses another.',
  },
  {
    fact: 'The vendor’s first SDKs got a token for the stream over gRPC, and had topics of another form.',
    reason: 'Its current ones do neither.',
  },
  {
    fact: 'What an event says of an option’s status, and of positions other than settled contracts on events.',
    reason: 'Neither is described; the simulator sends what a test gives it.',
  },
];
