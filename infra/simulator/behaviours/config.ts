/** Configuration: whether the simulated upstream was started with an access token. */

import { answer, type Behaviours } from './behaviour.ts';

export const config: Behaviours = {
  getConfig: (_call, { hasTokenCheck }) => answer({ token_check_enabled: hasTokenCheck }),
};
