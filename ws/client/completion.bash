# bash completion for ringside; `ringside completion bash` prints it.

# What the help calls the value of an option, nothing if it takes none: _ringside_value --timeout
_ringside_value() {
	grep -oE -- "(^|[, ])$1(, --[a-z-]+)? [A-Z][^ ,]*" <<<"$help" | sed 's/.* //; q'
}

_ringside() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
	local program=${COMP_WORDS[0]} help word i options session=
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "serve $("$program" completion --commands 2>/dev/null)" -- "$cur")
		return
	fi
	# The options of a command are those of its help, "  -t, --timeout S  what it is", without the words behind them.
	help=$("$program" "$command" --help 2>/dev/null | sed -n 's/^  -/-/; s/^\(-.*[^ ]\)   *.*/\1/; /^-/p')
	case $(_ringside_value "$prev") in
	FILE | PATH)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	DIR)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	esac
	case $prev in
	-s | --signal)
		mapfile -t COMPREPLY < <(compgen -W "INT TERM HUP QUIT KILL USR1 USR2 STOP CONT" -- "$cur")
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		options=$(grep -o -- '--[a-z-]*' <<<"$help")
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	# Is the session still to be named? Options before it, and what belongs to them, do not count.
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word != -* ]]; then
			session=$word
		elif [ -n "$(_ringside_value "$word")" ]; then
			((i++))
		fi
	done
	case $command in
	attach | exec | send | wait | screen | log | blocks | share | kill)
		if [ -z "$session" ] || [ "$command" = kill ]; then
			local server=()
			for ((i = 2; i < COMP_CWORD; i++)); do
				case ${COMP_WORDS[i]} in
				--socket | --url | --token-file) server+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;;
				esac
			done
			mapfile -t COMPREPLY < <(compgen -W "$("$program" ls --names "${server[@]}" 2>/dev/null)" -- "$cur")
			return
		fi
		;;
	logins)
		mapfile -t COMPREPLY < <(compgen -W revoke -- "$cur")
		return
		;;
	completion)
		mapfile -t COMPREPLY < <(compgen -W bash -- "$cur")
		return
		;;
	esac
	if [ "$command" = exec ] || [ "$command" = run ]; then
		mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
	fi
}
complete -F _ringside ringside
