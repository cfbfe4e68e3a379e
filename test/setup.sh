#!/usr/bin/env bash
# What the exhaustive tests need besides `npm ci`. A part that fails keeps no other away; the end says how to get what is
# missing. Go is the machine's own.
set -uo pipefail
cd "$(dirname "$0")/.."
missing=$(mktemp)
trap 'rm -f "$missing"' EXIT

# How to get something, and the command that does; where it fails, its user is told the first.
part() { "${@:2}" || echo "- $1" >>"$missing"; }

apt_packages() {
  apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends "$@"
} >/dev/null

# Packages of Debian, unless the machine has one of the programs.
tool() {
  command -v "${@:2}" >/dev/null || part "apt-get install $1" apt_packages $1
}

python_packages() {
  python3 -m venv "test/$1/.venv" &&
    "test/$1/.venv/bin/pip" install --quiet --requirement "test/$1/requirements.txt"
}

# One Maven after the other, here before the tests start several: they must not fill one repository together.
java_packages() {
  mvn --quiet --batch-mode -f docs/examples/kotlin/pom.xml -P moshi,gson,jackson,kotlinx dependency:go-offline &&
    mvn --quiet --batch-mode -f docs/examples/kotlin-streams/pom.xml dependency:go-offline &&
    mvn --quiet --batch-mode -f docs/examples/java/pom.xml -P okhttp-gson,native dependency:go-offline
}

# Debian's Python makes no environments by itself.
python3 -c 'import ensurepip' 2>/dev/null || part 'apt-get install python3 python3-venv' apt_packages python3 python3-venv
# What compiles and reads as users do.
tool curl curl
tool default-jdk-headless java
tool maven mvn
command -v go >/dev/null || part 'Go: https://go.dev/dl' false
tool chromium-headless-shell chromium-headless-shell chromium chromium-browser google-chrome
# The functions of an earlier version, and the reasons of ceilings.
[[ $(git rev-parse --is-shallow-repository) == false ]] ||
  part 'git fetch --unshallow, in a clone' git fetch --quiet --unshallow

# No two write to the same folder, and much of an installation waits for a registry or for the one compiler of a script:
# they run side by side.
# Other JavaScript runtimes; the versions of TypeScript that users may have; Lambda's runtime client, whose native part is
# compiled; generators of clients.
for folder in lambda runtimes types clients; do
  part "npm ci --prefix test/$folder" npm ci --prefix "test/$folder" &
done
# The AWS emulator, requests made from the document, a client of the event stream that is not ours, generated clients.
for folder in emulator schemathesis trade-events clients; do
  part "the packages of test/$folder/requirements.txt, by Python 3.11 or later" python_packages "$folder" &
done
if command -v mvn >/dev/null; then part 'the packages that Maven fetches' java_packages & fi
wait

[[ -s $missing ]] || exit 0
echo 'Not installed; tests that need it are skipped, and fail in CI:'
sort "$missing"
exit 1
