# For the scripts beside it, which read it: where we are, and how our figures are taken.
set -euo pipefail
cd "$(dirname "$0")/../.."
porf=${CARGO_TARGET_DIR:-target}/release/porf
# GenMC's figures (version 0.11), if they are beside the repository.
times=
for place in ../shared ../../shared; do
    [ -e "$place/oracle/genmc_times.tsv" ] && times=$place/oracle/genmc_times.tsv
done

field() { sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p"; }

# MODEL PROGRAM FLAGS: "executions blocked seconds" of the best of three runs; CPU seconds of the exploration. Nothing
# where there is no answer in two minutes.
ours() {
    local best= line
    for _ in 1 2 3; do
        line=$(timeout 120 "$porf" verify --format json --model "$1" "corpus/programs/$2" -- $3) || return 0
        line="$(field executions <<<"$line") $(field blocked <<<"$line") $(field cpu <<<"$line")"
        best=$(printf '%s\n%s\n' "$best" "$line" | awk 'NF == 3' | sort -g -k3 | head -1)
        # Long runs tell enough at once.
        awk -v line="$line" 'BEGIN { split(line, part, " "); exit !(part[3] > 5) }' && break
    done
    echo "$best"
}
