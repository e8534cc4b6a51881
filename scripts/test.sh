#!/usr/bin/env bash
# Every test there is: formatting, lints, Rust tests, a minute of fuzzing, the stubs of the wheel, and in Python the
# independent oracle and the wheel's own tests.
# Installs what it needs: system packages by apt, Python packages into .venv, cargo-fuzz and an engine by cargo into
# .tools.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }
apt_install() {
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$@"
}

say "tools"
command -v c++ >/dev/null || apt_install build-essential
python=${PYTHON:-python3}
"$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
    || { apt_install python3 python3-venv; python=python3; }
[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/oracle/requirements.txt \
    -r python/tests/requirements.txt -r python/examples/requirements.txt
# The real engines that the generator is proved on: two from the distribution, one from the registry.
[ -x /usr/games/fairy-stockfish ] && [ -x /usr/games/gpsusi ] || apt_install fairy-stockfish gpsshogi
[ -x .tools/bin/sekirei ] || cargo install --quiet --locked --root .tools sekirei@0.5.2
export MANAKA_ENGINES=$PWD/.tools/bin PATH=$PWD/.tools/bin:$PATH
cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

say "formatting and lints"
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
# The command once more with what it has on request.
cargo clippy -p manaka --all-targets --features onnx --quiet -- -D warnings

say "Rust tests"
cargo test --workspace --quiet

say "release build"
# With networks in ONNX, which the wheel's tests train and play; without them it is what the Rust tests have tried.
cargo build --release --workspace --bins --examples --features manaka/onnx --quiet

say "fuzzing, a minute in all"
fuzz/run.sh 10

say "the wheel"
PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --no-build-isolation --no-deps --force-reinstall .
.venv/bin/python -m mypy
.venv/bin/python -m mypy.stubtest manaka

say "the oracle and the wheel's tests"
.venv/bin/python -m pytest -q tests/oracle python/tests
