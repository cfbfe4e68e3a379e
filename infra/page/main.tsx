/** The page: quotes, orders, the limit, requests and people, over the public endpoints of a gateway. */

import { render } from 'preact';
import { CodeDialog } from './copy.tsx';
import { isHosted, key, lookAtGateway, shareKey, silence, useKey } from './gateway.ts';
import { GuardRails } from './guard.tsx';
import { Limit } from './limit.tsx';
import { useRun } from './local.ts';
import { Faults, Orders } from './orders.tsx';
import { finishSignIn, People } from './people.tsx';
import { Quotes } from './quotes.tsx';
import { Requests } from './requests.tsx';

function Page() {
  useRun();
  return (
    <>
      {silence.value && (
        <p class="state ill" role="alert" id="silence">
          {silence.value}
        </p>
      )}
      <div class="columns">
        <div>
          <People />
          <Quotes />
          <Limit />
          <GuardRails />
        </div>
        <div>
          <Faults />
          <Orders />
        </div>
      </div>
      <Requests />
      <CodeDialog />
    </>
  );
}

const replacesKey =
  'The link that you followed brings another API key. Use it in place of the one that this page has?';

/** Takes a key from behind the #, which browsers send to no server, and removes it from the address and the history. */
function takeKey(): void {
  const linkKey = new URLSearchParams(location.hash.slice(1)).get('key');
  if (linkKey === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  // Asks first, because anybody can make a link: with a stranger's key, a person's orders would go where the stranger wants.
  if (!key.value || key.value === linkKey || confirm(replacesKey)) useKey(linkKey);
}

takeKey();
addEventListener('hashchange', takeKey);
shareKey();
if (isHosted) void lookAtGateway();
await finishSignIn();
const root = document.getElementById('page');
root?.replaceChildren();
if (root) render(<Page />, root);
