# fish completion for ringside; `ringside completion fish` prints it.
function __ringside_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l found ($words[1] completion --words -- $words[2..-1] "$current" 2>/dev/null)
	switch "$found[1]"
		case ':files'
			__fish_complete_path "$current"
		case ':dirs'
			__fish_complete_directories "$current"
		case '*'
			printf '%s\n' $found
	end
end

complete -c ringside -f -a '(__ringside_complete)'
