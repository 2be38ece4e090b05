# Ringside's integration for zsh, which then reads the user's own files. See integration.h.
# The file sources itself with zsh's default options (the part behind else), so that our functions have those.
if [[ ${__rs_n-} != @NONCE@ ]]; then
	\builtin typeset -g __rs_n=@NONCE@
	\builtin emulate -R zsh -o localtraps -c '\builtin source "$ZDOTDIR/.zshenv"'
	# A user's function called builtin is all that can interfere: __rs_slow removes it, __rs_fast restores it.
	\builtin emulate -R zsh -o posixbuiltins -c '__rs_slow() {
		__rs_bf=("${functions[builtin]}")
		if (( ! $+functions[command] )); then
			command unfunction builtin
		elif (( ! $+functions[unfunction] )); then
			unfunction builtin
		elif (( ! $+functions[unhash] )); then
			unhash -f builtin
		else
			unset -f builtin
		fi
	}'
	# These run with the user's options. They assign arrays alone, which are never exported.
	__rs_key() {
		{
			FUNCNEST=100
			__rs_load
			__rs_untrap
			[[ -z $__rs_x || ! -o verbose ]] || \builtin unsetopt verbose
		} >/dev/null 2>&1
	}
	__rs_precmd() {
		{
			__rs_w=("$?" "${pipestatus[@]}") __rs_la=("$_") __rs_nt=('')
			[[ /dev/fd/3 -ef ${TTY-} || /dev/fd/3 -ef /dev/tty ]] || __rs_nt=(away) __rs_aw=(1)
			__rs_o=("${options[promptpercent]}" "${FUNCNEST-}" "${options[xtrace]}" "${options[verbose]}")
			FUNCNEST=100
			if [[ -n "${__rs_tr[@]}" ]]; then
				__rs_retrap
				__rs_tn=("${options[localtraps]}")
				\builtin unsetopt localtraps
				\builtin eval "${__rs_tw[@]}"
				[[ "${__rs_tn[@]}" != on ]] || \builtin setopt localtraps
			fi
			__rs_prompt
			FUNCNEST=${__rs_o[@]:1:1}
		} 2>/dev/null 3>&1 >/dev/null
	}
	# A DEBUG trap of the user's is removed between the key and the command, and ignores our code until the prompt.
	# Without localtraps, so that it stays changed when these functions return.
	\builtin emulate -R zsh -c '__rs_trap() {
		__rs_tn=()
		if (( $+functions[TRAPDEBUG] )); then
			__rs_tn=("functions[TRAPDEBUG]=\${__rs_tt[@]}" "${functions[TRAPDEBUG]}")
			return
		fi
		builtin trap >|"/proc/$PPID/fd/6"
		__rs_tn=("${(@z)$(<"/proc/$PPID/fd/6")}")
		if (( __rs_tn[(I)DEBUG] > 3 )); then
			__rs_tn=("\\builtin trap \"\${__rs_tt[@]}\" DEBUG" "${(Q)__rs_tn[__rs_tn[(I)DEBUG]-1]}")
		else
			__rs_tn=()
		fi
		__rs_exported
	}
	__rs_untrap() {
		[[ -n $__rs_x ]] || return 0
		__rs_trap
		__rs_tr=("${__rs_tn[@]}") __rs_tw=("${__rs_tn[1]-}")
		__rs_tt=("case \$ZSH_DEBUG_CMD in (*__rs_*) ;; (*) ${__rs_tn[2]-}
;; esac")
		builtin trap - DEBUG
	}
	__rs_retrap() {
		__rs_ours
		__rs_trap
		__rs_tw=("$__rs_tr[1]") __rs_tt=("$__rs_tr[2]")
		# The command has changed the trap.
		[[ $#__rs_tr == 2 || ${__rs_tn[2]-} == *"(*__rs_*)"* ]] || __rs_tw=()
		__rs_tr=()
	}'
	# Run the user's hooks as for a typed command.
	__rs_hooks() {
		[[ -z $__rs_hi ]] || for __rs_hook in "${__rs_hk[@]}"; do "$__rs_hook" "${__rs_h[@]}"$'\n' || __rs_hs=(no); done
		if [[ -n $__rs_hi && -z "${__rs_hs[@]}" && ( ! -o histignorespace || "${__rs_h[@]}" != ' '* ) &&
			( ! -o histignoredups || "${history[$((HISTCMD - 1))]-}" != "${__rs_h[@]}" ) ]]; then
			\builtin print -sr -- "${__rs_h[@]}"
		fi
		for __rs_hook in "${__rs_pk[@]}"; do "$__rs_hook" "${__rs_h[@]}" "${__rs_h[@]}" "${__rs_h[@]}" || \builtin :; done
	}
	if \builtin zmodload -F zsh/sched b:sched; then
		\builtin sched +0 __rs_first
	else
		precmd_functions+=(__rs_first)
	fi 2>/dev/null
	@ZDOTDIR@
	@FILES@
else
	typeset -ga __rs_aw __rs_nt __rs_w __rs_o __rs_la __rs_q __rs_d __rs_m __rs_h __rs_hk __rs_hs __rs_pk __rs_st __rs_bf __rs_db __rs_tn __rs_tr __rs_tt __rs_tw __rs_fn __rs_zf __rs_xf
	typeset -g __rs_lw= __rs_kb= __rs_id= __rs_sl= __rs_sp=0 __rs_u= __rs_x= __rs_c= __rs_v= __rs_i= __rs_k= __rs_p= __rs_an= __rs_got= __rs_hid= __rs_rc=0 __rs_t= __rs_xt= __rs_hook= __rs_hi= __rs_up=0

	__rs_fast() {
		builtin trap - DEBUG ZERR
		if (( $#__rs_db )); then
			builtin disable "${__rs_db[@]}"
			__rs_db=()
		fi
		if (( $#__rs_bf )); then
			functions[builtin]=$__rs_bf
			__rs_bf=()
		fi
	}
	__rs_ours() {
		(( ! $+functions[builtin] )) || __rs_slow
		if (( $#dis_builtins )); then
			__rs_db=("${(@k)dis_builtins}")
			builtin enable "${__rs_db[@]}"
		fi
	}
	__rs_clear() {
		__rs_ours
		builtin trap - DEBUG ZERR
	}
	__rs_load() {
		__rs_clear
		# Flushing the terminal's queue tears the seal.
		builtin read -r -t 3 -k 35 '__rs_q[1]' || __rs_q=()
		__rs_m=("${(@f)$(<"/proc/$PPID/fd/5")}")
		if [[ ${#__rs_q[1]} != 35 || ${__rs_q[1]} != ' #'*$'\r' || ${__rs_q[1][3,34]} == *[^[:alnum:]]* ]] ||
			(( $#__rs_m < 3 )); then
			# Without the seal its end cannot be proven, so it is not run.
			__rs_q=() __rs_m=()
			__rs_fast
			FUNCNEST=$__rs_o[2]
			return
		fi
		builtin eval "${__rs_m[2]}"
		__rs_x=${__rs_m[3]} __rs_m=() __rs_st=() __rs_got= __rs_h=("$__rs_c") __rs_fn=("$__rs_o[2]")
		__rs_sl=$BUFFER __rs_sp=$CURSOR __rs_xt=
		[[ -z $__rs_k ]] || __rs_c+=$'\n{ __rs_keep "$_"; } 2>/dev/null'
		if [[ ${__rs_o[3]} == on ]]; then
			__rs_xt=' { \builtin \unsetopt xtrace; } 2>/dev/null;'
			__rs_c='{ \builtin setopt xtrace; FUNCNEST=${__rs_fn[@]}; \builtin eval "${__rs_tw[@]}"; __rs_go "${__rs_la[@]}" && __rs_yes "${__rs_la[@]}"; } 2>/dev/null; '$__rs_c
		else
			__rs_c='{ FUNCNEST=${__rs_fn[@]}; \builtin eval "${__rs_tw[@]}"; __rs_go "${__rs_la[@]}" && __rs_yes "${__rs_la[@]}"; } 2>/dev/null; '$__rs_c
		fi
		[[ ${__rs_o[4]} != on ]] || __rs_c='{ \builtin setopt verbose; } 2>/dev/null; '$__rs_c
		__rs_hide
		BUFFER="$__rs_xt "'\builtin \eval "$__rs_x"' CURSOR=$#BUFFER __rs_up=
		[[ -z $__rs_xt ]] || __rs_up=$#BUFFER
		builtin zle .accept-line
	}
	# Hide our line from the user's hooks.
	__rs_no() { return 1; }
	__rs_yes() { return "${__rs_zero:-0}"; }
	__rs_hide() {
		__rs_hid=1 __rs_hs=()
		__rs_zf=($zshaddhistory_functions) __rs_xf=($preexec_functions)
		__rs_hk=($zshaddhistory_functions) __rs_pk=(${preexec_functions:#__rs_preexec})
		if (( $+functions[zshaddhistory] )); then
			builtin functions -c zshaddhistory __rs_user_history
			builtin unfunction zshaddhistory
			__rs_hk=(zshaddhistory "${__rs_hk[@]}")
		fi
		if (( $+functions[preexec] )); then
			builtin functions -c preexec __rs_user_preexec
			builtin unfunction preexec
			__rs_pk=(preexec "${__rs_pk[@]}")
		fi
		[[ ${(t)zshaddhistory_functions} == *readonly* ]] || zshaddhistory_functions=(__rs_no)
		[[ ${(t)preexec_functions} == *readonly* ]] || preexec_functions=()
	}
	__rs_show() {
		[[ -n $__rs_hid ]] || return 0
		__rs_hid=
		if [[ ${(t)zshaddhistory_functions} != *readonly* ]]; then
			zshaddhistory_functions=("${__rs_zf[@]}")
			(( $#__rs_zf )) || builtin unset zshaddhistory_functions
		fi
		[[ ${(t)preexec_functions} == *readonly* ]] || preexec_functions=("${__rs_xf[@]}")
		if (( $+functions[__rs_user_history] )); then
			builtin functions -c __rs_user_history zshaddhistory
			builtin unfunction __rs_user_history
		fi
		if (( $+functions[__rs_user_preexec] )); then
			builtin functions -c __rs_user_preexec preexec
			builtin unfunction __rs_user_preexec
		fi
	}
	__rs_tell() { builtin print -rn -- "$1" 1<>"/proc/$PPID/fd/7"; }
	__rs_before() {
		__rs_rc=$?
		builtin trap - DEBUG ZERR
		builtin printf '\e[%uA\e[%uG\e[J%s\n' $(( __rs_up ? 1 + ($2 - 1 + __rs_up) / COLUMNS : $1 )) "$2" "$__rs_v" >/dev/tty
		__rs_show
		return $__rs_rc
	}
	__rs_begin() {
		builtin trap - DEBUG ZERR
		__rs_d=("$__rs_i;q=${__rs_q[1][3,18]}") __rs_q=('' "$__rs_i;q=${__rs_q[1][19,34]}") __rs_id=$__rs_i __rs_v= __rs_x=
		[[ -z $__rs_lw ]] || __rs_kb=$(<"/proc/$$/task/$$/children")$(<"/proc/$PPID/task/$PPID/children")
		builtin printf '\e]133;C;aid=%s;id=%s\a' "$__rs_n" "$__rs_i" >/dev/tty
		__rs_tell "C"$'\x1f'"$__rs_n"$'\x1f'"$__rs_i"$'\x1f'"$#__rs_sl"$'\x1e'
		return $__rs_rc
	}
	__rs_go() {
		"${__rs_none:-builtin}" trap - ZERR
		(( ! $#__rs_tr )) || __rs_tr+=(armed)
		if (( $#__rs_db )); then
			builtin disable "${__rs_db[@]}"
			__rs_db=()
		fi
		if (( $#__rs_bf )); then
			functions[builtin]=$__rs_bf
			__rs_bf=()
		fi
		return $__rs_rc
	}
	__rs_keep() {
		__rs_rc=$? __rs_st=("${pipestatus[@]}") __rs_got=1
		# A DEBUG trap changes pipestatus.
		[[ $__rs_k == p && $#__rs_tr == 0 ]] || __rs_st=($__rs_rc)
		return $__rs_rc
	}
	__rs_cd() { builtin cd -q -- "$1"; }
	# Wait until the holder has read its descriptors 8 and 9.
	__rs_drain() {
		local __rs_o1 __rs_o2 __rs_at
		builtin zmodload -F zsh/zselect b:zselect || return 0
		builtin sysopen -r -o cloexec -u __rs_o1 "/proc/$PPID/fd/8" 2>/dev/null || return 0
		builtin sysopen -r -o cloexec -u __rs_o2 "/proc/$PPID/fd/9" || return 0
		for (( __rs_at = 0; __rs_at < 20000; __rs_at++ )); do
			builtin zselect -t 0 -r $__rs_o1 -r $__rs_o2 || break
		done
		reply=()
		exec {__rs_o1}<&- {__rs_o2}<&-
	}
	# Wait up to a quarter of a second for processes that outlive the command and may still write, as those of >(...)
	# do. Orphans are children of the holder.
	__rs_settle() {
		local __rs_at __rs_kn
		[[ -n $__rs_nt[1] ]] || __rs_nt=(late)
		builtin zmodload -F zsh/zselect b:zselect && [[ -e /proc/$$/task/$$/children ]] || return 0
		for (( __rs_at = 0; __rs_at < 25; __rs_at++ )); do
			__rs_kn=$(<"/proc/$$/task/$$/children")$(<"/proc/$PPID/task/$PPID/children")
			while [[ $__rs_kn == *' '* && " $__rs_kb" == *" ${__rs_kn%% *} "* ]]; do __rs_kn=${__rs_kn#* }; done
			if [[ -z $__rs_kn ]]; then
				[[ $__rs_nt[1] != late ]] || __rs_nt=('')
				return 0
			fi
			builtin zselect -t 1
		done
	}
	__rs_where() {
		__rs_t=$PWD
		[[ ${#__rs_t} -lt 900 && $__rs_t != *[[:cntrl:]]* ]] || __rs_t=
	}
	__rs_after() {
		__rs_clear
		# An interrupt between two commands has not set the status yet.
		(( TRY_BLOCK_INTERRUPT <= 0 )) || __rs_w=(130)
		[[ -n $__rs_got ]] || __rs_rc=$__rs_w[1] __rs_st=($__rs_w[1])
		builtin eval "$__rs_u"
		__rs_u= __rs_c=
		# Earlier writers may still write.
		[[ $#__rs_aw == 0 || -n $__rs_nt[1] ]] || __rs_aw=() __rs_kb="$$ " __rs_lw=1 __rs_nt=(away)
		[[ -z $__rs_lw ]] || __rs_settle
		[[ -z $__rs_p ]] || __rs_drain
		__rs_where
		builtin print -rn -- $'\e]133;D;'"$__rs_rc;aid=$__rs_n;id=${__rs_d[1]}"$'\a'${__rs_p:+$'\e[m'} >/dev/tty
		__rs_tell "D"$'\x1f'"$__rs_n"$'\x1f'"${__rs_q[2]}"$'\x1f'"$__rs_rc"$'\x1f'"${(j: :)__rs_st}"$'\x1f'"$__rs_t"$'\x1f'"$__rs_nt[1]"$'\x1e'
		__rs_id= __rs_d=() __rs_q=() __rs_h=() __rs_got= __rs_an=1
		__rs_fast
		return $__rs_rc
	}
	# Write the exported variables, as bash code.
	__rs_exported() {
		for __rs_t in "${(@k)parameters[(R)*export*]}"; do
			builtin print -r -- "declare -x $__rs_t=${(qq)${(P)__rs_t}}"
		done >|"/proc/$PPID/fd/6"
	}
	__rs_prompt() {
		__rs_clear
		__rs_show
		local __rs_time='%D{%s.%6.}' __rs_record=
		__rs_time=${(%)__rs_time}
		if [[ -n $__rs_id ]]; then
			[[ -z $__rs_got ]] || __rs_w=($__rs_rc "${__rs_st[@]}")
			__rs_record=${__rs_q[2]} __rs_q=() __rs_id= __rs_got=
			# The command was interrupted, so __rs_settle has not run.
			[[ -z $__rs_lw || -n $__rs_nt[1] ]] || __rs_nt=(late)
			builtin eval "$__rs_u"
			__rs_u=
		else
			__rs_d=()
		fi
		[[ -n $__rs_an && $#__rs_d == 0 ]] ||
			builtin print -rn -- $'\e]133;D;'"$__rs_w[1];aid=$__rs_n;id=${__rs_d[1]}"$'\a'${__rs_d:+$'\e[m'} >/dev/tty
		__rs_an= __rs_d=()
		if [[ ${__rs_o[1]} == on ]]; then
			[[ ${PS1-} == *$__rs_n* || ${(t)PS1} == *readonly* ]] ||
				PS1=$'%{\e]133;A;aid='$__rs_n$'\a%}'${PS1-}$'%{\e]133;B;aid='$__rs_n$'\a%}'
			[[ ${PS2-} == *$__rs_n* || ${(t)PS2} == *readonly* ]] ||
				PS2=$'%{\e]133;P;k=s;aid='$__rs_n$'\a%}'${PS2-}$'%{\e]133;P;k=e;aid='$__rs_n$'\a%}'
		fi
		# zsh draws it before it calls any hook, behind output without a newline.
		[[ ${PROMPT_EOL_MARK-} == *$__rs_n* || ${(t)PROMPT_EOL_MARK} == *readonly* ]] ||
			PROMPT_EOL_MARK=$'%{\e]133;D;%?;aid='$__rs_n$';id=\a%}'${PROMPT_EOL_MARK-%B%S%#%s%b}
		[[ ${preexec_functions[-1]-} == __rs_preexec || ${(t)preexec_functions} == *readonly* ]] ||
			preexec_functions=(${preexec_functions:#__rs_preexec} __rs_preexec)
		__rs_exported
		local __rs_statuses="${(j: :)__rs_w[2,-1]}"
		__rs_where
		__rs_tell "P"$'\x1f'"$__rs_n"$'\x1f'"$__rs_w[1]"$'\x1f'"$__rs_record"$'\x1f'"$__rs_t"$'\x1f'"$__rs_statuses"$'\x1f'"$__rs_time"$'\x1f\x1f'"$__rs_nt[1]"$'\x1e'
		__rs_fast
	}
	# Report a line that was entered.
	__rs_preexec() {
		__rs_clear
		[[ ${precmd_functions[-1]-} == __rs_precmd || ${(t)precmd_functions} == *readonly* ]] ||
			precmd_functions=(${precmd_functions:#__rs_precmd} __rs_precmd)
		# Our own line, which could not be hidden. It has been reported.
		if [[ -n $__rs_x ]]; then
			__rs_fast
			return 0
		fi
		[[ $#1 -gt 900 || -z $1 || $1 == *[$'\x1e\x1f']* ]] || __rs_tell "L"$'\x1f'"$__rs_n"$'\x1f'line$'\x1f'"$1"$'\x1e'
		local __rs_time='%D{%s.%6.}'
		builtin print -rn -- $'\e]133;C;aid='"$__rs_n;t=${(%)__rs_time}"$'\a' >/dev/tty
		__rs_fast
	}
	__rs_back() {
		BUFFER="${__rs_sl[1,__rs_sp]}$BUFFER${__rs_sl[__rs_sp+1,-1]}"
		CURSOR=$(( CURSOR + __rs_sp ))
		__rs_sl= __rs_sp=0
	}
	# Print the bytes that follow the key, which undo the terminal modes that a program has left.
	__rs_undo() {
		{
			__rs_clear
			builtin read -r -t 3 -k 160 __rs_t
			__rs_t=${__rs_t//E/$'\e'}
			__rs_t=${__rs_t//O/$'\017'}
			builtin print -rn -- "${__rs_t%% *}" >/dev/tty
			# The user's hook may switch application keys on.
			(( ! $+widgets[zle-line-init] )) || builtin zle zle-line-init
			builtin zle .reset-prompt
			__rs_fast
		} 2>/dev/null
	}
	__rs_state() {
		{
			__rs_clear
			__rs_exported
			__rs_tell "S"$'\x1f'"$__rs_n"$'\x1f'state$'\x1f\x1e'
			__rs_fast
		} 2>/dev/null
	}
	# Runs before the first prompt, behind the user's files and their hooks.
	__rs_first() {
		precmd_functions=(${precmd_functions:#__rs_*} __rs_precmd)
		__rs_w=(0 0) __rs_o=("${options[promptpercent]}" "${FUNCNEST-}" off)
		builtin zle -N __rs_key
		builtin zle -N __rs_back
		builtin zle -N __rs_state
		builtin zle -N __rs_undo
		for __rs_t in $keymaps; do
			[[ $__rs_t != .safe ]] || continue
			builtin bindkey -M $__rs_t '\e[57399;17~' __rs_key
			builtin bindkey -M $__rs_t '\e[57399;19~' __rs_back
			builtin bindkey -M $__rs_t '\e[57399;21~' __rs_state
			builtin bindkey -M $__rs_t '\e[57399;23~' __rs_undo
		done
		{ __rs_prompt; } >/dev/null 2>&1
	}
fi
