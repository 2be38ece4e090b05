#!/usr/bin/env bash
# Check the style of all files that git tracks or would add: formatting of C, spelling, shell scripts, types of the web
# page. Runs all checks and prints what is wrong.
set -uo pipefail

# Words that codespell reports wrongly: words of code, and parts of words in test data.
words=fro,hel,nd,ontext,te,unstall

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
rc=0

# Print the files, each terminated by NUL; without git, all files except built and fetched ones.
files() {
	git -c safe.directory='*' ls-files -z -co --exclude-standard 2>/dev/null ||
		find . \( -name .git -o -name node_modules -o -name dist -o -name 'build*' \) -prune -o \
			-type f -printf '%P\0'
}

# check NAME COMMAND…
check() {
	local name=$1
	shift
	if ! "$@"; then
		echo "style: $name: see above" >&2
		rc=1
	fi
}

sources=()
scripts=()
texts=()
while IFS= read -r -d '' file; do
	[ -f "$file" ] || continue # deleted, but not yet in the index
	case $file in
	*.[ch]) sources+=("$file") ;;
	*.sh) scripts+=("$file") ;;
	esac
	case $file in
	# Exact bytes, names of others, other languages.
	*/corpus/* | *package-lock.json | *.vt | *.bin | *.png | *.ico | *.woff2 | LICENSE) ;;
	*) texts+=("$file") ;;
	esac
	case ${file##*/} in
	*.*) ;;
	*)
		IFS= LC_ALL=C read -r -n 64 first <"$file" || :
		[[ $first =~ ^#!.*sh$ ]] && scripts+=("$file")
		;;
	esac
done < <(files)

[ ${#sources[@]} -eq 0 ] || check "clang-format (-i fixes it)" \
	clang-format --dry-run -Werror --ferror-limit=1 "${sources[@]}"
[ ${#texts[@]} -eq 0 ] || check codespell \
	codespell --quiet-level 3 --ignore-words-list "$words" "${texts[@]}"
[ ${#scripts[@]} -eq 0 ] || check shellcheck shellcheck -x "${scripts[@]}"
check clang-tidy tests/tidy.py
check "types of web/" npm --prefix web run --silent check
exit "$rc"
