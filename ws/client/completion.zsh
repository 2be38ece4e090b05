#compdef ringside
# zsh completion for ringside; `ringside completion zsh` prints it.
_ringside() {
	local -a found shown
	local line
	found=("${(@f)$($words[1] completion --words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	case $found[1] in
	:files) _files ;;
	:dirs) _files -/ ;;
	*)
		for line in $found; do
			[[ -n $line ]] && shown+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
		done
		_describe -V ringside shown
		;;
	esac
}

if [[ $funcstack[1] == _ringside ]]; then
	_ringside "$@" # autoloaded from fpath
else
	compdef _ringside ringside # run by eval or source
fi
