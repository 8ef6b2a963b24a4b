#!/bin/sh
# Runs the targets of make that check something, one after the other, with the time that each took:
# checks.sh MAKE TARGET... [VARIABLE=VALUE...]
#
# All are run even if one fails. The closing line counts them.
set -u

# Nothing is built twice.
export CARGO_INCREMENTAL=0

make=$1
shift
targets=
variables=
for word in "$@"; do
    case $word in
    *=*) variables="$variables $word" ;;
    *) targets="$targets $word" ;;
    esac
done

passed=0
failed=0
summary=
for target in $targets; do
    echo "=== $target"
    begin=$(date +%s)
    # shellcheck disable=SC2086
    if $make --no-print-directory "$target" $variables; then
        passed=$((passed + 1))
        result=ok
    else
        failed=$((failed + 1))
        result=FAILED
    fi
    summary="$summary
$target: $result, $(($(date +%s) - begin)) s"
    # Nothing works without a build.
    [ "$target$result" != build-bothFAILED ] || break
done

echo "$summary"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
