# Read by the scripts beside it: paths, and how Porf's figures are taken.
set -euo pipefail
cd "$(dirname "$0")/../.."
porf=${CARGO_TARGET_DIR:-target}/release/porf
# GenMC's figures (version 0.11), if they are beside the repository.
times=
for place in ../shared ../../shared; do
    [ -e "$place/oracle/genmc_times.tsv" ] && times=$place/oracle/genmc_times.tsv
done

field() { sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p"; }

# MODEL PROGRAM FLAGS: prints "executions blocked seconds" of the best of three runs, in CPU seconds of the
# exploration. Prints nothing if there is no answer within two minutes.
ours() {
    local best= line
    for _ in 1 2 3; do
        line=$(timeout 120 "$porf" verify --format json --model "$1" "corpus/programs/$2" -- $3) || return 0
        line="$(field executions <<<"$line") $(field blocked <<<"$line") $(field cpu <<<"$line")"
        best=$(printf '%s\n%s\n' "$best" "$line" | awk 'NF == 3' | sort -g -k3 | head -1)
        # One long run is enough.
        awk -v line="$line" 'BEGIN { split(line, part, " "); exit !(part[3] > 5) }' && break
    done
    echo "$best"
}
