#!/usr/bin/env bash
# On another Node than the machine's: `npm start` answers a request with its key, then stops; and the unit tests pass.
#
#     npm run test:node -- oldest|newest
#
# Both names are packages of test/runtimes. The oldest is 20.13.0, the first that the test runner starts on; `npm start` works
# from 20.11 on, as package.json says.
set -uo pipefail
cd "$(dirname "$0")/.."
bin="$PWD/test/runtimes/node_modules/$1/bin"
told=$(mktemp)
trap 'rm -f "$told"' EXIT

failed() {
  printf -- '- failed: %s\n0 passed, 1 failed\n' "$1"
}

# The first request that `npm start` prints.
ask() {
  bash -c "$(grep -m 1 "^  curl -H 'x-api-key: " "$told") --fail --silent --show-error --output /dev/null" &>>"$told"
}

# What npm writes is not judged, nor its status, unless it had to be killed.
starts_and_stops() {
  PORT=0 UPSTREAM_PORT=0 EVENTS_PORT=0 MARKET_STREAM_PORT=0 timeout --kill-after 10 300 npm start &>"$told" &
  until grep -q '^Ctrl-C ends it' "$told" || ! kill -0 $!; do sleep 0.1; done
  ask
  local answered=$?
  kill -INT $!
  wait $!
  (($? != 137 && answered == 0)) && ! ask
} 2>/dev/null

version=$("$bin/node" --version) || {
  failed "the $1 Node is missing: npm ci --prefix test/runtimes"
  exit 1
}
PATH="$bin:$PATH"
status=0
if starts_and_stops; then echo '1 passed, 0 failed'; else
  status=1
  cat "$told"
  failed "npm start on Node $version"
fi
npm run test:unit | sed "s/^- failed: /&Node $version: /" || status=1
exit $status
