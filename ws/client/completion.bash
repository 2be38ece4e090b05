# bash completion for ringside; `ringside completion bash` prints it.
_ringside() {
	local cur=${COMP_WORDS[COMP_CWORD]} line found=() words=()
	COMPREPLY=()
	# bash passes words with their quotes.
	for line in "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$cur"; do
		line=${line#[\'\"]}
		words+=("${line%[\'\"]}")
	done
	mapfile -t found < <("${COMP_WORDS[0]}" completion --words -- "${words[@]}" 2>/dev/null)
	case ${found[0]} in
	:files)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		# Their first argument is a command of the shell.
		[[ ${COMP_WORDS[1]} == @(exec|run) ]] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$cur")
		;;
	:dirs)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		;;
	*)
		# The description behind the tab is not shown.
		COMPREPLY=("${found[@]%%$'\t'*}")
		;;
	esac
}
complete -F _ringside ringside
