# bash completion for ringside; `ringside completion bash` prints it.
_ringside() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
	local program=${COMP_WORDS[0]} word i options session=
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "serve $("$program" completion --commands 2>/dev/null)" -- "$cur")
		return
	fi
	case $prev in
	--socket | --token-file | --tls-cert | --tls-key)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--cwd | --runtime-dir)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	-s | --signal)
		mapfile -t COMPREPLY < <(compgen -W "INT TERM HUP QUIT KILL USR1 USR2 STOP CONT" -- "$cur")
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		options=$("$program" "$command" --help 2>/dev/null |
			sed -n 's/^  \(-.*\)/\1/p' | grep -o -- '--[a-z-]*')
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	# Is the session still to be named? Options before it, and what belongs to them, do not count.
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--socket | --url | --token-file | --cwd | --env | --name | --key | --author | --timeout | --from | --to | \
			--scrollback | --detach-key | --signal | --expires | --base | --revoke | --size | --shell | --on-shell-exit | \
			--idle-timeout | --text | --paste | --lease | --limit | --status | --state | --output | --match | \
			--idle | --stable | --bytes | --exec | -t | -s) ((i++)) ;;
		-*) ;;
		*) session=$word ;;
		esac
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
