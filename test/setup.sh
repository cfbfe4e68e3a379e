#!/usr/bin/env bash
# What the exhaustive tests need besides `npm ci`. Python 3.11 or later, Go, Java and Maven are the machine's own.
set -euo pipefail
cd "$(dirname "$0")/.."

python_packages() {
  python3 -m venv "test/$1/.venv"
  "test/$1/.venv/bin/pip" install --quiet --requirement "test/$1/requirements.txt"
}

# One Maven after the other, here before the tests start several: they must not fill one repository together.
java_packages() {
  mvn --quiet --batch-mode -f docs/examples/kotlin/pom.xml -P moshi,gson,jackson,kotlinx dependency:go-offline
  mvn --quiet --batch-mode -f docs/examples/kotlin-streams/pom.xml dependency:go-offline
  mvn --quiet --batch-mode -f docs/examples/java/pom.xml -P okhttp-gson,native dependency:go-offline
}

# No two write to the same folder, and much of an installation waits for a registry or for the one compiler of a script:
# they run side by side. One that fails ends the others, and this script with its status.
jobs=()
trap 'kill "${jobs[@]}" 2>/dev/null || true' ERR
# Other JavaScript runtimes; the versions of TypeScript that users may have; Lambda's runtime client, whose native part is
# compiled; generators of clients.
for folder in lambda runtimes types clients; do
  npm ci --prefix "test/$folder" &
  jobs+=($!)
done
# The AWS emulator, requests made from the document, a client of the event stream that is not ours, generated clients.
for folder in emulator schemathesis trade-events clients; do
  python_packages "$folder" &
  jobs+=($!)
done
if command -v mvn >/dev/null; then
  java_packages &
  jobs+=($!)
fi
for job in "${jobs[@]}"; do wait "$job"; done

# What visits every state of the models of orders.
if ! command -v spin >/dev/null; then
  { apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends spin gcc libc6-dev; } >/dev/null ||
    echo 'No model checker: apt-get install spin gcc libc6-dev'
fi

# A browser, where this machine has none and may install one.
if ! command -v chromium-headless-shell chromium google-chrome >/dev/null; then
  { apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends chromium-headless-shell; } >/dev/null ||
    echo 'No browser: apt-get install chromium-headless-shell'
fi
